import { Anchor, Button, Paper, Progress, Stack, Text } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import type { ContactImportDetail } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { downloadCsv } from '../../ui/csv.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Notice } from '../../ui/notice.tsx'
import { count, pluralize } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { cancelImport, groupsQuery, importQuery, isFinished, startChecked, undoImport } from './contacts.api.ts'
import { ImportStatusBadge } from './imports-page.tsx'

export function ImportPage() {
  const { id = '' } = useParams()
  const contactImport = useQuery(importQuery(id))
  return (
    <Page
      title={contactImport.data?.filename ?? 'Import'}
      beside={contactImport.data && <ImportStatusBadge of={contactImport.data} />}
      back={{ to: paths.imports, label: 'Imports' }}
      actions={
        contactImport.data && (
          <>
            {contactImport.data.status === 'checked' && <StartButton id={id} />}
            {isFinished(contactImport.data) && hasContacts(contactImport.data) && (
              <Button component={Link} variant="default" to={`${paths.contacts}?import=${id}`}>
                View contacts
              </Button>
            )}
            {(!isFinished(contactImport.data) || contactImport.data.status === 'checked') && (
              <ConfirmButton
                confirm={{
                  title: 'Cancel import',
                  action: 'Cancel import',
                  dismiss: contactImport.data.dry_run ? 'Keep it' : 'Keep importing',
                  children: contactImport.data.dry_run
                    ? 'The file is deleted. Nothing was imported.'
                    : 'The rest of the file is skipped. Contacts imported so far are kept.',
                  run: async () => {
                    await cancelImport(id)
                    await contactImport.refetch()
                  },
                }}
              >
                Cancel import
              </ConfirmButton>
            )}
            {contactImport.data.undo_until && (
              <ConfirmButton
                leftSection={<IconArrowBackUp size={16} aria-hidden />}
                confirm={{
                  title: 'Undo import',
                  action: 'Undo import',
                  children: `Removes the ${pluralize(contactImport.data.created, 'contact', 'contacts')} this import created and restores the contacts it changed, including their groups and suppressions. Contacts that were edited, emailed, unsubscribed or added to another group since then are kept.`,
                  run: async () => {
                    await undoImport(id)
                    await contactImport.refetch()
                  },
                }}
              >
                Undo import
              </ConfirmButton>
            )}
          </>
        )
      }
    >
      <Load query={contactImport}>{(data) => <ImportView contactImport={data} />}</Load>
    </Page>
  )
}

function ImportView({ contactImport }: { contactImport: ContactImportDetail }) {
  const over = isFinished(contactImport)
  const { dry_run } = contactImport
  const percent =
    contactImport.status === 'done' || contactImport.status === 'checked'
      ? 100
      : contactImport.bytes_total > 0
        ? Math.floor((contactImport.bytes_done / contactImport.bytes_total) * 100)
        : 0
  return (
    <Stack gap="md">
      {contactImport.undo ? (
        <UndoNotice undo={contactImport.undo} />
      ) : contactImport.status === 'checked' ? (
        <Notice tone="info" role="status" title={`${pluralize(contactImport.rows_done, 'row', 'rows')} checked`}>
          Nothing has been imported yet. Start the import within a day, or correct the file and check it again.
        </Notice>
      ) : (
        <Paper withBorder p="md">
          <Text mb="xs" aria-live="polite">
            {stateOf(contactImport, percent)}
          </Text>
          <Progress.Root size="lg">
            <Progress.Section value={percent} animated={!over} color="green.8" aria-label="Import progress" />
          </Progress.Root>
        </Paper>
      )}
      {contactImport.problem && (
        <Notice
          tone="bad"
          role="alert"
          title={contactImport.dry_run ? 'The import would stop here. Nothing was imported' : 'The import failed'}
        >
          {contactImport.problem}
        </Notice>
      )}
      {contactImport.note && (
        <Notice tone="warn" title="Some columns were skipped">
          {contactImport.note}
        </Notice>
      )}
      <Facts
        facts={[
          [dry_run ? 'Would be created' : 'Created', count(contactImport.created)],
          [dry_run ? 'Would be updated' : 'Updated', count(contactImport.updated)],
          [dry_run ? 'Would be rejected' : 'Rejected', count(contactImport.rejected)],
          ['Group', <ImportedGroup key="group" id={contactImport.group_id} />],
          ['New contacts', contactImport.subscription === 'subscribed' ? 'Subscribed' : 'Not subscribed'],
          ['Started', <Time key="start" at={contactImport.created_at} />],
          ['Finished', <Time key="end" at={contactImport.finished_at} none="Not yet" />],
        ]}
      />
      {contactImport.errors.length > 0 && <RejectedRows contactImport={contactImport} />}
    </Stack>
  )
}

function StartButton({ id }: { id: string }) {
  const queries = useQueryClient()
  const start = useMutation({
    mutationFn: () => startChecked(id),
    onSuccess: () => queries.invalidateQueries({ queryKey: importQuery(id).queryKey }),
    onError: (error) => toast(messageOf(error), 'bad'),
  })
  return (
    <Button loading={start.isPending} onClick={() => start.mutate()}>
      Start import
    </Button>
  )
}

function UndoNotice({ undo }: { undo: NonNullable<ContactImportDetail['undo']> }) {
  const counts = [
    `${pluralize(undo.removed, 'contact', 'contacts')} removed`,
    `${count(undo.restored)} restored`,
    ...(undo.kept > 0 ? [`${count(undo.kept)} kept because they were changed or emailed since`] : []),
  ].join(', ')
  if (undo.status === 'failed')
    return (
      <Notice tone="bad" role="status" title="The undo failed">
        It stopped because of an internal error, see the server log. So far: {counts}.
      </Notice>
    )
  return undo.status === 'done' ? (
    <Notice tone="good" role="status" title="Import undone">
      {counts}.
    </Notice>
  ) : (
    <Notice tone="info" role="status" title="Undoing the import">
      So far: {counts}. You can leave this page; the undo continues.
    </Notice>
  )
}

function ImportedGroup({ id }: { id: string | null }) {
  const groups = useQuery({ ...groupsQuery, enabled: id !== null })
  if (id === null) return 'No group'
  if (!groups.data) return '…'
  const group = groups.data.find((each) => each.id === id)
  if (!group) return 'Deleted group'
  return (
    <Anchor component={Link} to={`${paths.contacts}?group=${id}`} className="break">
      {group.name}
    </Anchor>
  )
}

/** An undone import has only the contacts that were kept, and a dry run none. */
const hasContacts = ({ created, updated, undo, dry_run }: ContactImportDetail) =>
  !dry_run && (undo ? undo.kept > 0 : created + updated > 0)

function stateOf({ status, rows_done: rows, dry_run }: ContactImportDetail, percent: number): string {
  const processed = pluralize(rows, 'row', 'rows')
  switch (status) {
    case 'checked':
    case 'done':
      return `${processed} processed.`
    case 'failed':
      return dry_run ? 'The check stopped.' : 'The import stopped.'
    case 'cancelled':
      return dry_run
        ? 'Cancelled. Nothing was imported.'
        : `The import was cancelled after ${processed}. Contacts imported so far are kept.`
    case 'queued':
    case 'running':
      if (dry_run) return `${processed} checked, ${percent}%.`
      return `${processed} processed, ${percent}%. You can leave this page; the import continues.`
  }
}

type RejectedRow = ContactImportDetail['errors'][number]

const columns: Column<RejectedRow>[] = [
  { header: 'Email', phone: 'title', cell: (row) => row.email ?? '–' },
  { header: 'Line', width: '90px', cell: (row) => `${row.line}` },
  { header: 'Problem', cell: (row) => row.problem.replace(/^[a-z]/, (letter) => letter.toUpperCase()) },
]

function RejectedRows({ contactImport }: { contactImport: ContactImportDetail }) {
  const { errors } = contactImport
  return (
    <Section
      title="Rejected rows"
      description={
        contactImport.rejected > errors.length
          ? `The first ${count(errors.length)} of ${count(contactImport.rejected)}.`
          : contactImport.dry_run
            ? 'Fix these rows and check the file again, or import the others.'
            : 'Fix these rows and import them again. Existing contacts are updated, not duplicated.'
      }
      actions={
        <Button variant="default" size="xs" onClick={() => downloadReport(contactImport, errors)}>
          Download report
        </Button>
      }
    >
      <DataTable label="Rejected rows" columns={columns} rows={errors} rowKey={(row) => String(row.line)} />
    </Section>
  )
}

/** The rejected rows with their original columns, so that they can be fixed and imported again. */
function downloadReport(contactImport: ContactImportDetail, errors: RejectedRow[]): void {
  const width = Math.max(contactImport.columns.length, ...errors.map(({ cells }) => cells?.length ?? 0), 1)
  const names = Array.from(
    { length: width },
    (_, at) => contactImport.columns[at] ?? (width === 1 ? 'email' : `Column ${at + 1}`),
  )
  const rows = errors.map(({ line, email, problem, cells }) => [
    ...Array.from({ length: width }, (_, at) => (cells ? (cells[at] ?? '') : at === 0 ? (email ?? '') : '')),
    String(line),
    problem,
  ])
  const name = `rejected-${contactImport.filename.replace(/\.csv$/i, '')}`
  downloadCsv(name, [...names, 'import_line', 'import_problem'], rows)
}
