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

{{- define "waxwing.environment" -}}
envFrom:
  - configMapRef:
      name: {{ include "waxwing.name" . }}
  - secretRef:
      name: {{ include "waxwing.secretName" . }}
{{- end }}
