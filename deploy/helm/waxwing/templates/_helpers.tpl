{{- define "waxwing.name" -}}
{{ printf "%s-waxwing" .Release.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "waxwing.secretName" -}}
{{ .Values.existingSecret | default (include "waxwing.name" .) }}
{{- end }}

{{- define "waxwing.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "waxwing.selectorLabels" -}}
app.kubernetes.io/name: waxwing
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "waxwing.labels" -}}
{{ include "waxwing.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* Restarts the pods when the settings change. */ -}}
{{- define "waxwing.settingsChecksum" -}}
{{ printf "%s %s" (toYaml .Values.settings) (toYaml .Values.secretSettings) | sha256sum }}
{{- end }}

{{- define "waxwing.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "waxwing.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* The first process that starts runs the migrations; the others wait for its lock. */ -}}
{{- define "waxwing.probes" -}}
startupProbe:
  httpGet:
    path: /health
    port: http
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet:
    path: /health
    port: http
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{- /* Helm reads numbers in files as floating point, which would be written as 1e+06. */ -}}
{{- define "waxwing.settingText" -}}
{{ if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- /* These settings depend on the chart, so they take precedence over those in envFrom. */ -}}
{{- define "waxwing.environment" -}}
env:
  - name: HOST
    value: "0.0.0.0"
  - name: PORT
    value: "3000"
  - name: WORK_PORT
    value: "3000"
  - name: METRICS_HOST
    value: "0.0.0.0"
  - name: METRICS_PORT
    value: "9464"
  - name: DATA_DIR
    value: /data
  {{- if .Values.bounces.enabled }}
  - name: BOUNCE_DOMAIN
    value: {{ required "bounces.enabled requires settings.BOUNCE_DOMAIN" .Values.settings.BOUNCE_DOMAIN | quote }}
  - name: BOUNCE_SMTP_HOST
    value: "0.0.0.0"
  - name: BOUNCE_SMTP_PORT
    value: "2525"
  {{- end }}
  {{- if .Values.submission.enabled }}
  - name: SUBMISSION_PORT
    value: "2587"
  - name: SUBMISSION_TLS_PORT
    value: "2465"
  - name: SUBMISSION_HOST
    value: "0.0.0.0"
  - name: SUBMISSION_TLS_CERT_FILE
    value: /submission/tls.crt
  - name: SUBMISSION_TLS_KEY_FILE
    value: /submission/tls.key
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
envFrom:
  - configMapRef:
      name: {{ include "waxwing.name" . }}
  - secretRef:
      name: {{ include "waxwing.secretName" . }}
{{- end }}

{{- define "waxwing.volumeMounts" -}}
- name: data
  mountPath: /data
{{- if .Values.filesSecret }}
- name: files
  mountPath: /files
  readOnly: true
{{- end }}
{{- if .Values.submission.enabled }}
- name: submission
  mountPath: /submission
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "waxwing.fileVolumes" -}}
{{- if .Values.filesSecret }}
- name: files
  secret:
    secretName: {{ .Values.filesSecret }}
{{- end }}
{{- if .Values.submission.enabled }}
- name: submission
  secret:
    secretName: {{ required "submission.enabled requires submission.tlsSecret" .Values.submission.tlsSecret }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
