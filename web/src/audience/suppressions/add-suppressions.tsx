import { Button, Stack, Text, Textarea } from '@mantine/core'
import { suppressList } from '../../accounts/settings/settings.api.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { SuppressedAddress, SuppressedList } from '../../api/types.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogActions } from '../../ui/dialog-actions.tsx'
import { emailText } from '../../ui/email-text.ts'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { count, pluralize } from '../../ui/numbers.ts'

const addressesMax = 5_000
const listCharsMax = 256 * 1024
/** Rows of the table of results. */
const shownMax = 200

type AddProps = { onClose: () => void }

/** Suppresses one address or a pasted list, and shows the result of each entry that was not added. */
export function AddSuppressions({ onClose }: AddProps) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { list: '' },
    validate: ({ list }) => (list.trim() === '' ? { list: 'Enter at least one address.' } : {}),
    send: ({ list }) => suppressList(list),
    onSuccess: () => invalidate(keys.suppressions, keys.contacts),
  })
  return (
    <Dialog opened onClose={onClose} title="Suppress addresses">
      {form.result ? (
        <Results result={form.result} onClose={onClose} />
      ) : (
        <DialogForm form={form} action="Suppress addresses" onCancel={onClose}>
          <Textarea
            label="Email addresses"
            description={`One per line, or separated by commas. Up to ${count(addressesMax)} at a time. No flow will send email to them.`}
            placeholder={'ada@example.com\ngrace@example.com'}
            autosize
            minRows={3}
            maxRows={14}
            maxLength={listCharsMax}
            spellCheck={false}
            required
            data-autofocus
            {...form.field('list')}
          />
        </DialogForm>
      )}
    </Dialog>
  )
}

const resultColumns: Column<SuppressedAddress>[] = [
  { header: 'Line', width: '70px', cell: (row) => `${row.line}` },
  { header: 'Entry', phone: 'title', cell: (row) => <Text className="break">{emailText(row.email ?? row.text)}</Text> },
  {
    header: 'Result',
    cell: (row) => (row.status === 'rejected' ? `Rejected: ${row.problem}` : 'Already suppressed'),
  },
]

function Results({ result, onClose }: { result: SuppressedList; onClose: () => void }) {
  const others = result.results.filter((row) => row.status !== 'added')
  return (
    <Stack gap="sm">
      <Text role="status">
        {[
          `${pluralize(result.added, 'address', 'addresses')} suppressed.`,
          result.already_suppressed > 0 && `${count(result.already_suppressed)} already suppressed.`,
          result.rejected > 0 && `${count(result.rejected)} rejected.`,
        ]
          .filter(Boolean)
          .join(' ')}
      </Text>
      {others.length > 0 && (
        <DataTable
          label="Addresses that were not added"
          columns={resultColumns}
          rows={others.slice(0, shownMax)}
          rowKey={(row) => `${row.line} ${row.text}`}
        />
      )}
      {others.length > shownMax && <Text c="dimmed">The first {count(shownMax)} are shown.</Text>}
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Stack>
  )
}
