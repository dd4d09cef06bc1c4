import { Button, Stack, Text } from '@mantine/core'
import { IconInbox, IconPlugConnected } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import type { DnsRecord, Sending } from '../api/types.ts'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
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
      description="Where mail goes, who signs it, and what to set in the DNS so that it is believed."
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

const states: Record<Sending['state'], { tone: Tone; label: string }> = {
  ok: { tone: 'good', label: 'Working' },
  failing: { tone: 'bad', label: 'Failing' },
  unknown: { tone: 'still', label: 'Not checked yet' },
}

function SendingState({ sending }: { sending: Sending }) {
  const state = states[sending.state]
  return (
    <Stack gap="md">
      {sending.transport === 'inbox' && <NoRelay />}
      {sending.problems.length > 0 && <BeforeGoingLive problems={sending.problems} />}
      {sending.state === 'failing' && (
        <ErrorLine>
          {sending.last_error
            ? `The relay cannot be used: ${sending.last_error}`
            : 'The mail relay is not working. Pending email is sent when it works again; ask whoever runs this installation.'}
        </ErrorLine>
      )}
      <Facts
        facts={[
          ['Mail goes to', destinationOf(sending)],
          [
            'State',
            <StatusBadge key="state" tone={state.tone}>
              {state.label}
            </StatusBadge>,
          ],
          ['Waiting to be sent', sending.queued.toLocaleString('en')],
          ['Last sent', <Time key="sent" at={sending.last_sent_at} />],
          ['Default sender', sending.mail_from],
          ['DKIM', sending.dkim ? `${sending.dkim.selector}._domainkey.${sending.dkim.domain}` : 'not set'],
          ['Bounces', bouncesOf(sending)],
          ...(sending.checked_at
            ? [['Checked', <Time key="checked" at={sending.checked_at} />] as [string, React.ReactNode]]
            : []),
        ]}
      />
      {sending.details && (
        <Section title="DNS records" description="Set these where the domain of your sender is managed.">
          {sending.records.length === 0 ? (
            <Empty title="None yet">
              Set MAIL_FROM to an address of your own domain, and DKIM_DOMAIN, DKIM_SELECTOR and DKIM_PRIVATE_KEY_FILE
              to sign mail. The records to set will stand here.
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

function destinationOf({ transport, relay }: Sending): string {
  if (transport === 'inbox') return 'the built-in inbox'
  return relay ? `${relay.host}:${relay.port}` : 'the mail relay of this installation'
}

function bouncesOf({ bounce_domain: domain, bounce_providers: providers }: Sending): string {
  const ways = [
    ...(domain ? [`by mail to ${domain}`] : []),
    ...(providers.length > 0 ? [`told by ${providers.join(', ')}`] : []),
  ]
  if (ways.length > 0) return ways.join(', and ')
  return 'not received (set BOUNCE_DOMAIN and BOUNCE_SMTP_PORT, or the PROVIDER_ setting of your mail provider)'
}

function BeforeGoingLive({ problems }: { problems: Sending['problems'] }) {
  const faults = problems.some(({ severity }) => severity === 'fault')
  return (
    <Notice
      tone={faults ? 'bad' : 'info'}
      title={faults ? 'Mail is not ready for other people' : 'Before this relay sends mail to other people'}
    >
      {problems.map(({ message }) => (
        <Text key={message}>{message}</Text>
      ))}
    </Notice>
  )
}

const startCommand = `SMTP_URL=smtp://user:password@relay.example.com:587 \\
BASE_URL=https://waxwing.example.com \\
MAIL_FROM=hello@example.com \\
npm start`

function NoRelay() {
  return (
    <Notice tone="warn" icon={<IconInbox size={18} aria-hidden />} title="Nothing leaves this machine yet">
      <Stack gap="xs">
        <Text>
          No relay is set, so every mail lands in the built-in inbox. To send for real, restart the service with:
        </Text>
        <CodeBlock code={startCommand} label="start command" />
      </Stack>
    </Notice>
  )
}

const recordTones: Record<DnsRecord['status'], { tone: Tone; label: string }> = {
  found: { tone: 'good', label: 'Found' },
  missing: { tone: 'bad', label: 'Missing' },
  different: { tone: 'warn', label: 'Different' },
  unchecked: { tone: 'still', label: 'Not checked' },
}

const recordColumns: Column<DnsRecord>[] = [
  { header: 'For', phone: 'title', cell: (record) => record.purpose },
  { header: 'Type', cell: (record) => record.type },
  {
    header: 'Name',
    phone: 'bare',
    cell: (record) => <Copyable value={record.name} label={`Copy the name of ${record.purpose}`} />,
  },
  {
    header: 'Value',
    phone: 'bare',
    cell: (record) => <Copyable value={record.value} label={`Copy the value of ${record.purpose}`} />,
  },
  {
    header: 'State',
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
