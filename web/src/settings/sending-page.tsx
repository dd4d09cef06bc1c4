import { Anchor, Button, Stack, Text } from '@mantine/core'
import { IconInbox, IconPlugConnected } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import type { DnsRecord, SendingStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Copyable } from '../ui/copy.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { Notice } from '../ui/notice.tsx'
import { Section } from '../ui/section.tsx'
import { Empty, ErrorLine, Load } from '../ui/states.tsx'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'
import { Time } from '../ui/time.tsx'
import { checkSending, sendingQuery } from './settings.api.ts'

export function SendingPage() {
  const sending = useQuery(sendingQuery)
  const queries = useQueryClient()
  const check = useMutation({
    mutationFn: checkSending,
    onSuccess: (checked) => queries.setQueryData(sendingQuery.queryKey, checked),
  })
  return (
    <Section
      title="Sending"
      titleHidden
      description="Mail server, DKIM signing and DNS records for deliverability."
      actions={
        sending.data?.details && (
          <Button
            leftSection={<IconPlugConnected size={16} aria-hidden />}
            loading={check.isPending}
            onClick={() => check.mutate()}
          >
            Check now
          </Button>
        )
      }
    >
      {check.isError && <ErrorLine>{messageOf(check.error)}</ErrorLine>}
      <Load query={sending}>{(state) => <SendingState sending={state} />}</Load>
    </Section>
  )
}

const states: Record<SendingStatus['state'], { tone: Tone; label: string }> = {
  ok: { tone: 'good', label: 'Working' },
  failing: { tone: 'bad', label: 'Failing' },
  unknown: { tone: 'neutral', label: 'Not checked yet' },
}

function SendingState({ sending }: { sending: SendingStatus }) {
  const state = states[sending.state]
  return (
    <Stack gap="md">
      {sending.transport === 'inbox' && <NoMailServer />}
      {sending.problems.length > 0 && <SetupProblems problems={sending.problems} />}
      {sending.state === 'failing' && (
        <ErrorLine>
          {sending.last_error
            ? `Can’t connect to the mail server: ${sending.last_error}`
            : 'Can’t connect to the mail server. Queued emails are sent when it works again. Contact the operator of this installation.'}
        </ErrorLine>
      )}
      <Facts
        facts={[
          ['Mail server', destinationOf(sending)],
          [
            'Status',
            <StatusBadge key="state" tone={state.tone}>
              {state.label}
            </StatusBadge>,
          ],
          ['Queued emails', sending.queued.toLocaleString('en')],
          ['Last sent', <Time key="sent" at={sending.last_sent_at} none="Never" />],
          ['Default sender', sending.mail_from],
          ['Allowed senders', allowedSendersOf(sending)],
          ['DKIM', sending.dkim ? `${sending.dkim.selector}._domainkey.${sending.dkim.domain}` : 'Not configured'],
          ['Bounces', bouncesOf(sending)],
          ['SMTP submission', submissionOf(sending)],
          ...(sending.checked_at
            ? [['Checked', <Time key="checked" at={sending.checked_at} />] as [string, React.ReactNode]]
            : []),
        ]}
      />
      {sending.details && (
        <Section title="DNS records" description="Add these records at your DNS provider.">
          {sending.records.length === 0 ? (
            <Empty title="No records yet">
              Set MAIL_FROM to an address of your domain, and DKIM_DOMAIN, DKIM_SELECTOR and DKIM_PRIVATE_KEY_FILE to
              sign emails. The records to add will appear here.
            </Empty>
          ) : (
            <DataTable
              label="DNS records"
              columns={recordColumns}
              rows={sending.records}
              rowKey={(record) => `${record.purpose} ${record.type} ${record.name}`}
            />
          )}
        </Section>
      )}
    </Stack>
  )
}

function destinationOf({ transport, relay, mail_servers: servers }: SendingStatus): string {
  if (servers.length > 0) return servers.map(({ name }) => name).join(', ')
  if (transport === 'inbox') return 'Built-in inbox'
  return relay ? `${relay.host}:${relay.port}` : 'Mail server of this installation'
}

function allowedSendersOf({ sender_domains: domains, mail_from: sender }: SendingStatus): string {
  if (!domains) return 'Any From address'
  return ['Verified domains', sender, ...domains].join(', ')
}

function bouncesOf({ bounce_domain: domain, bounce_providers: providers }: SendingStatus): string {
  const sources = [
    ...(domain ? [`By email to ${domain}`] : []),
    ...(providers.length > 0 ? [`Reported by ${providers.join(', ')}`] : []),
  ]
  if (sources.length > 0) return sources.join(' and ')
  return 'Not received. Set BOUNCE_DOMAIN and BOUNCE_SMTP_PORT, or the PROVIDER_ setting of your email provider.'
}

function submissionOf({ submission, details }: SendingStatus): string {
  if (!submission) return details ? 'Off. Set SUBMISSION_PORT to let programs send by SMTP.' : 'Off'
  const ports = [submission.port, submission.tls_port].filter((port) => port !== null)
  return `${submission.host}, port ${ports.join(' or ')}`
}

function SetupProblems({ problems }: { problems: SendingStatus['problems'] }) {
  const faults = problems.some(({ severity }) => severity === 'fault')
  return (
    <Notice
      tone={faults ? 'bad' : 'info'}
      title={faults ? 'Not ready to send to other people' : 'Before you send to other people'}
    >
      {problems.map(({ message }) => (
        <Text key={message}>{message}</Text>
      ))}
    </Notice>
  )
}

function NoMailServer() {
  return (
    <Notice tone="warn" icon={<IconInbox size={18} aria-hidden />} title="Emails aren’t being sent yet">
      <Stack gap="xs">
        <Text>No mail server is connected, so every email goes to the built-in inbox.</Text>
        <Anchor component={Link} to={paths.firstEmail}>
          Send your first real email
        </Anchor>
      </Stack>
    </Notice>
  )
}

const recordTones: Record<DnsRecord['status'], { tone: Tone; label: string }> = {
  found: { tone: 'good', label: 'Found' },
  missing: { tone: 'bad', label: 'Missing' },
  different: { tone: 'warn', label: 'Different' },
  unchecked: { tone: 'neutral', label: 'Not checked' },
}

const recordColumns: Column<DnsRecord>[] = [
  { header: 'Purpose', phone: 'title', cell: (record) => record.purpose },
  { header: 'Type', cell: (record) => record.type },
  {
    header: 'Name',
    phone: 'bare',
    minWidth: '320px',
    cell: (record) => <Copyable value={record.name} label={`Copy the name of ${record.purpose}`} />,
  },
  {
    header: 'Value',
    phone: 'bare',
    minWidth: '280px',
    cell: (record) => <Copyable value={record.value} label={`Copy the value of ${record.purpose}`} />,
  },
  {
    header: 'Status',
    cell: (record) => (
      <>
        <StatusBadge tone={recordTones[record.status].tone}>{recordTones[record.status].label}</StatusBadge>
        {record.status === 'different' && record.found && (
          <Text size="xs" c="dimmed" mt={4}>
            Found: {record.found}
          </Text>
        )}
      </>
    ),
  },
]
