import { Text } from '@mantine/core'
import type { FlowResults } from '../../api/types.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { bounceReasonText } from '../../ui/descriptions.ts'
import { emailText } from '../../ui/email-text.ts'
import { count, share } from '../../ui/numbers.ts'
import { Section } from '../../ui/section.tsx'
import { Empty } from '../../ui/states.tsx'
import { CsvButton } from './csv-button.tsx'

type Props = { fileName: string; results: FlowResults }
type Reason = FlowResults['bounces'][number]
type Domain = FlowResults['domains'][number]
type Version = FlowResults['versions'][number]

const Other = ({ children }: { children: string }) => (
  <Text span c="dimmed">
    {children}
  </Text>
)
const bouncesOf = (row: { hard_bounces: number; soft_bounces: number }) => row.hard_bounces + row.soft_bounces

const reasonColumns: Column<Reason>[] = [
  {
    header: 'Reason',
    phone: 'title',
    cell: ({ reason }) => (reason === null ? <Other>All other reasons</Other> : bounceReasonText(reason)),
  },
  { header: 'Hard', align: 'right', cell: (row) => count(row.hard_bounces) },
  { header: 'Soft', align: 'right', cell: (row) => count(row.soft_bounces) },
]

export function ReasonsSection({ fileName, results: { bounces: rows } }: Props) {
  return (
    <Section
      title="Bounces by reason"
      actions={
        rows.length > 0 && (
          <CsvButton
            name={`${fileName}-bounce-reasons`}
            label="bounce reasons"
            header={['reason', 'hard_bounces', 'soft_bounces']}
            rows={() => rows.map((row) => [row.reason ?? '(other)', row.hard_bounces, row.soft_bounces])}
          />
        )
      }
    >
      {rows.length === 0 ? (
        <Empty title="No bounces in this period" />
      ) : (
        <DataTable label="Bounces by reason" columns={reasonColumns} rows={rows} rowKey={(row) => row.reason ?? ''} />
      )}
    </Section>
  )
}

const performance = <Row extends Omit<Domain, 'domain'>>(): Column<Row>[] => [
  { header: 'Sent', align: 'right', cell: (row) => count(row.sent) },
  { header: 'Opened', align: 'right', cell: (row) => share(row.opens_unique, row.sent) },
  { header: 'Clicked', align: 'right', cell: (row) => share(row.clicks_unique, row.sent) },
  { header: 'Bounced', align: 'right', cell: (row) => share(bouncesOf(row), row.sent) },
  { header: 'Complaints', align: 'right', phone: 'hide', cell: (row) => share(row.complaints, row.sent) },
]

const performanceHeader = ['sent', 'opened', 'clicked', 'hard_bounces', 'soft_bounces', 'complaints']
const performanceCells = (row: Omit<Domain, 'domain'>) => [
  ...[row.sent, row.opens_unique, row.clicks_unique, row.hard_bounces, row.soft_bounces, row.complaints],
]

const domainColumns: Column<Domain>[] = [
  {
    header: 'Domain',
    phone: 'title',
    cell: ({ domain }) => (domain === null ? <Other>All other domains</Other> : emailText(`@${domain}`).slice(1)),
  },
  ...performance<Domain>(),
]

export function DomainsSection({ fileName, results: { domains } }: Props) {
  return (
    <Section
      title="Receiving domains"
      actions={
        domains.length > 0 && (
          <CsvButton
            name={`${fileName}-domains`}
            label="domains"
            header={['domain', ...performanceHeader]}
            rows={() => domains.map((row) => [row.domain ?? '(other)', ...performanceCells(row)])}
          />
        )
      }
    >
      {domains.length === 0 ? (
        <Empty title="No emails in this period" />
      ) : (
        <DataTable
          label="Receiving domains"
          columns={domainColumns}
          rows={domains}
          rowKey={(row) => row.domain ?? ''}
        />
      )}
    </Section>
  )
}

const versionColumns: Column<Version>[] = [
  {
    header: 'Version',
    phone: 'title',
    cell: ({ version }) => (version === null ? <Other>All other versions</Other> : `Version ${version}`),
  },
  ...performance<Version>(),
  { header: 'Unsubscribed', align: 'right', cell: (row) => share(row.unsubscribes, row.sent) },
]

export function VersionsSection({ fileName, results: { versions } }: Props) {
  return (
    <Section
      title="Versions"
      description="How each version of the flow performed in this period."
      actions={
        versions.length > 0 && (
          <CsvButton
            name={`${fileName}-versions`}
            label="versions"
            header={['version', ...performanceHeader, 'unsubscribed']}
            rows={() => versions.map((row) => [row.version ?? '(other)', ...performanceCells(row), row.unsubscribes])}
          />
        )
      }
    >
      {versions.length === 0 ? (
        <Empty title="No emails in this period" />
      ) : (
        <DataTable label="Versions" columns={versionColumns} rows={versions} rowKey={(row) => String(row.version)} />
      )}
    </Section>
  )
}
