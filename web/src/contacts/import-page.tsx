import { Anchor, Button, Paper, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'react-router'
import type { ContactImportDetail } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/confirm.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Facts } from '../ui/facts.tsx'
import { Notice } from '../ui/notice.tsx'
import { count, counted } from '../ui/numbers.ts'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Load } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { cancelImport, importQuery, isOver } from './contacts.api.ts'
import { ImportStatusBadge } from './imports-page.tsx'

export function ImportPage() {
  const { id = '' } = useParams()
  const one = useQuery(importQuery(id))
  const [asking, setAsking] = useState(false)
  return (
    <Page
      title={one.data?.filename ?? 'Import'}
      beside={one.data && <ImportStatusBadge status={one.data.status} />}
      back={{ to: paths.imports, label: 'Imports' }}
      actions={
        one.data &&
        !isOver(one.data) && (
          <Button variant="default" onClick={() => setAsking(true)}>
            Cancel import
          </Button>
        )
      }
    >
      <Load query={one}>{(data) => <OneImport one={data} />}</Load>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Cancel import"
        action="Cancel import"
        dismiss="Keep importing"
        run={async () => {
          await cancelImport(id)
          await one.refetch()
        }}
      >
        The rest of the file is not read. Who was imported so far stays.
      </Confirm>
    </Page>
  )
}

function OneImport({ one }: { one: ContactImportDetail }) {
  const over = isOver(one)
  const percent =
    one.status === 'done' ? 100 : one.bytes_total > 0 ? Math.floor((one.bytes_done / one.bytes_total) * 100) : 0
  return (
    <Stack gap="md">
      <Paper withBorder p="md">
        <Text mb="xs" aria-live="polite">
          {stateOf(one, percent)}
        </Text>
        <Progress.Root size="lg">
          <Progress.Section value={percent} animated={!over} color="green.8" aria-label="Import" />
        </Progress.Root>
      </Paper>
      {one.problem && (
        <Notice tone="bad" role="alert" title="The import failed">
          {one.problem}
        </Notice>
      )}
      {one.note && (
        <Notice tone="warn" title="Some columns were left out">
          {one.note}
        </Notice>
      )}
      <Facts
        facts={[
          ['Created', count(one.created)],
          ['Updated', count(one.updated)],
          ['Refused', count(one.rejected)],
          ['Started', <Time key="start" at={one.created_at} />],
          ['Finished', <Time key="end" at={one.finished_at} none="not yet" />],
        ]}
      />
      {over && (
        <Anchor component={Link} to={one.group_id ? `${paths.contacts}?group=${one.group_id}` : paths.contacts}>
          See the contacts
        </Anchor>
      )}
      {one.errors.length > 0 && <Refused one={one} />}
    </Stack>
  )
}

function stateOf({ status, rows_done: rows }: ContactImportDetail, percent: number): string {
  const lines = counted(rows, 'line', 'lines')
  switch (status) {
    case 'done':
      return rows === 1 ? 'The one line is read.' : `All ${lines} are read.`
    case 'failed':
      return 'The import stopped.'
    case 'cancelled':
      return `The import was cancelled after ${lines}. Who was imported so far stays.`
    case 'queued':
    case 'running':
      return `${lines} read, ${percent}%. You can leave this page; it goes on.`
  }
}

type Refusal = ContactImportDetail['errors'][number]

const columns: Column<Refusal>[] = [
  { header: 'Line', width: '90px', cell: (refusal) => `${refusal.line}` },
  { header: 'Address', phone: 'title', cell: (refusal) => refusal.email ?? '–' },
  { header: 'Why', cell: (refusal) => refusal.problem },
]

function Refused({ one }: { one: ContactImportDetail }) {
  const { errors } = one
  return (
    <Section
      title="Refused lines"
      description={
        one.rejected > errors.length
          ? `The first ${count(errors.length)} of ${count(one.rejected)}.`
          : 'Mend them in the file and import it again: who is there already is updated, not doubled.'
      }
      actions={
        <Button variant="default" size="xs" onClick={() => download(one, errors)}>
          Download report
        </Button>
      }
    >
      <DataTable label="Refused lines" columns={columns} rows={errors} rowKey={(refusal) => String(refusal.line)} />
    </Section>
  )
}

/** The rejected rows with their original columns, so that they can be fixed and imported again. */
function download(one: ContactImportDetail, errors: Refusal[]): void {
  const width = Math.max(one.columns.length, ...errors.map(({ cells }) => cells?.length ?? 0), 1)
  const names = Array.from(
    { length: width },
    (_, at) => one.columns[at] ?? (width === 1 ? 'email' : `Column ${at + 1}`),
  )
  const rows = errors.map(({ line, email, problem, cells }) => [
    ...Array.from({ length: width }, (_, at) => (cells ? (cells[at] ?? '') : at === 0 ? (email ?? '') : '')),
    String(line),
    problem,
  ])
  const text = [[...names, 'import_line', 'import_problem'], ...rows].map((row) => row.map(toCell).join(',')).join('\n')
  const url = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `rejected-${one.filename.replace(/\.csv$/i, '')}.csv`
  link.click()
  URL.revokeObjectURL(url)
}

/** A spreadsheet would run a cell that starts like a formula. The import removes the quote before it again. */
const toCell = (text: string) => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`
