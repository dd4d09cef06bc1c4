import { Anchor, Box, Button, Text, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconPlugConnected } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { checkSending, sendingQuery } from '../../accounts/settings/settings.api.ts'
import { messageOf } from '../../api/api-error.ts'
import type { DnsRecord, SendingStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { Copyable } from '../../ui/copy.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Time } from '../../ui/time.tsx'

const refetchMs = 10_000

type Fact = [name: string, value: ReactNode]

/** What is used behind the steps of Setup. */
export function SendingDetails() {
  const [opened, setOpened] = useState(false)
  return (
    <Box component="section" aria-label="Details">
      <UnstyledButton onClick={() => setOpened(!opened)} aria-expanded={opened} fz="sm" fw={500} mb="sm">
        {opened ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />} Details
      </UnstyledButton>
      {opened && <OpenDetails />}
    </Box>
  )
}

function OpenDetails() {
  const sending = useQuery({ ...sendingQuery, refetchInterval: refetchMs })
  const queries = useQueryClient()
  const check = useMutation({
    mutationFn: checkSending,
    onSuccess: (checked) => queries.setQueryData(sendingQuery.queryKey, checked),
  })
  return (
    <Load query={sending}>
      {(state) => (
        <>
          <SendingFacts sending={state} />
          {state.details && state.records.length > 0 && (
            <Section
              title="DNS records of the installation"
              description="For the sender of the installation. Add them at your DNS provider."
              actions={
                <Button
                  variant="default"
                  leftSection={<IconPlugConnected size={16} aria-hidden />}
                  loading={check.isPending}
                  onClick={() => check.mutate()}
                >
                  Check now
                </Button>
              }
            >
              {check.isError && <ErrorLine>{messageOf(check.error)}</ErrorLine>}
              <DataTable
                label="DNS records"
                columns={recordColumns}
                rows={state.records}
                rowKey={(record) => `${record.purpose} ${record.type} ${record.name}`}
              />
            </Section>
          )}
        </>
      )}
    </Load>
  )
}

function SendingFacts({ sending }: { sending: SendingStatus }) {
  return (
    <Facts
      facts={[
        ['Emails go through', destinationOf(sending)],
        ['Queued emails', sending.queued.toLocaleString('en')],
        ['Last sent', <Time key="sent" at={sending.last_sent_at} none="Never" />],
        ['Allowed senders', allowedSendersOf(sending)],
        ['Bounces', bouncesOf(sending)],
        ['SMTP submission', submissionOf(sending)],
        ...(sending.dkim
          ? [['DKIM of the installation', `${sending.dkim.selector}._domainkey.${sending.dkim.domain}`] as Fact]
          : []),
        ...(sending.checked_at ? [['Records looked up', <Time key="checked" at={sending.checked_at} />] as Fact] : []),
      ]}
    />
  )
}

function destinationOf({ transport, relay, mail_servers: servers }: SendingStatus): ReactNode {
  if (servers.length > 0) return servers.map(({ name }) => name).join(', ')
  if (transport === 'inbox')
    return (
      <Anchor component={Link} to={paths.inbox} underline="always" inherit>
        Built-in inbox
      </Anchor>
    )
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
  return 'Only by reports to your mail servers'
}

function submissionOf({ submission, details }: SendingStatus): string {
  if (!submission) return details ? 'Off. Set SUBMISSION_PORT to let programs send by SMTP.' : 'Off'
  const ports = [submission.port, submission.tls_port].filter((port) => port !== null)
  return `${submission.host}, port ${ports.join(' or ')}`
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
