import { Anchor, Text } from '@mantine/core'
import type { FlowResults } from '../../../api/types.ts'
import type { Column } from '../../../ui/data-table.tsx'
import { bounceReasonText } from '../../../ui/descriptions.ts'
import { emailText } from '../../../ui/email-text.ts'
import { count, share } from '../../../ui/numbers.ts'
import { TableSection } from './table-section.tsx'

type Props = { fileName: string; results: FlowResults }
type Reason = FlowResults['bounces'][number]
type Domain = FlowResults['domains'][number]
type Version = FlowResults['versions'][number]

const Other = ({ children }: { children: string }) => (
  <Text span c="dimmed">
    {children}
  </Text>
)

const reasonColumns: Column<Reason>[] = [
  {
    header: 'Reason',
    phone: 'title',
    cell: ({ reason }) => (reason === null ? <Other>All other reasons</Other> : bounceReasonText(reason)),
  },
  { header: 'Hard', align: 'right', cell: (row) => count(row.hard_bounces) },
  { header: 'Soft', align: 'right', cell: (row) => count(row.soft_bounces) },
]

export function ReasonsSection({
  fileName,
  results: { bounces: rows },
  showPeople,
}: Props & { showPeople: () => void }) {
  return (
    <TableSection
      title="Bounces by reason"
      description={
        rows.length > 0 && (
          <Anchor component="button" type="button" onClick={showPeople}>
            Show whose email bounced
          </Anchor>
        )
      }
      empty="No bounces in this period"
      columns={reasonColumns}
      rows={rows}
      rowKey={(row) => row.reason ?? ''}
      csv={{
        name: `${fileName}-bounce-reasons`,
        label: 'bounce reasons',
        header: ['reason', 'hard_bounces', 'soft_bounces'],
        cells: (row) => [row.reason ?? '(other)', row.hard_bounces, row.soft_bounces],
      }}
    />
  )
}

const performance = <Row extends Omit<Domain, 'domain'>>(): Column<Row>[] => [
  { header: 'Sent', align: 'right', cell: (row) => count(row.sent) },
  { header: 'Opened', align: 'right', cell: (row) => share(row.opens_unique, row.sent) },
  { header: 'Clicked', align: 'right', cell: (row) => share(row.clicks_unique, row.sent) },
  { header: 'Bounced', align: 'right', cell: (row) => share(row.bounced, row.sent) },
  { header: 'Complaints', align: 'right', phone: 'hide', cell: (row) => share(row.complaints, row.sent) },
]

const performanceHeader = ['sent', 'opened', 'clicked', 'bounced', 'hard_bounces', 'soft_bounces', 'complaints']
const performanceCells = (row: Omit<Domain, 'domain'>) => [
  ...[row.sent, row.opens_unique, row.clicks_unique, row.bounced, row.hard_bounces, row.soft_bounces, row.complaints],
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
    <TableSection
      title="Receiving domains"
      empty="No emails in this period"
      columns={domainColumns}
      rows={domains}
      rowKey={(row) => row.domain ?? ''}
      csv={{
        name: `${fileName}-domains`,
        label: 'domains',
        header: ['domain', ...performanceHeader],
        cells: (row) => [row.domain ?? '(other)', ...performanceCells(row)],
      }}
    />
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
    <TableSection
      title="Versions"
      description="How each version of the flow performed in this period."
      empty="No emails in this period"
      columns={versionColumns}
      rows={versions}
      rowKey={(row) => String(row.version)}
      csv={{
        name: `${fileName}-versions`,
        label: 'versions',
        header: ['version', ...performanceHeader, 'unsubscribed'],
        cells: (row) => [row.version ?? '(other)', ...performanceCells(row), row.unsubscribes],
      }}
    />
  )
}
