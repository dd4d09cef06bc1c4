import { Anchor, Box, Button, Checkbox, Group, Menu, Text } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'
import type { BulkAction, Contact, ContactQuery } from '../../api/types.ts'
import { pluralize } from '../../ui/numbers.ts'
import { countText } from '../segments/matching-count.tsx'
import { useContactCount } from '../segments/segments.api.ts'
import type { Selection } from './bulk.api.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { BulkProgress } from './bulk-progress.tsx'

const actions: { value: BulkAction['action']; label: string; danger?: boolean }[] = [
  { value: 'add_to_group', label: 'Add to group' },
  { value: 'remove_from_group', label: 'Remove from group' },
  { value: 'unsubscribe', label: 'Unsubscribe' },
  { value: 'suppress', label: 'Suppress' },
  { value: 'erase', label: 'Erase', danger: true },
]

/** `all`: every contact that matches the filters, also those that are not shown. */
export type Selected = { ids: ReadonlySet<string>; all: boolean }
export const nobody: Selected = { ids: new Set(), all: false }

type Props = {
  shown: Contact[]
  asked: ContactQuery
  selected: Selected
  onSelect: (selected: Selected) => void
}

export function SelectAll({ shown, selected, onSelect }: Omit<Props, 'asked'>) {
  const chosen = shown.filter(({ id }) => selected.ids.has(id)).length
  const isEveryRow = shown.length > 0 && chosen === shown.length
  return (
    <Checkbox
      aria-label="Select all contacts on this page"
      checked={isEveryRow}
      indeterminate={chosen > 0 && !isEveryRow}
      onChange={() => onSelect(isEveryRow ? nobody : { ids: new Set(shown.map(({ id }) => id)), all: false })}
    />
  )
}

/** The number of contacts, or the actions for the selected ones. */
export function BulkBar({ shown, asked, selected, onSelect }: Props) {
  const { data: total } = useContactCount(asked)
  const [action, setAction] = useState<BulkAction['action']>()
  const [running, setRunning] = useState<string>()
  const chosen = shown.filter(({ id }) => selected.ids.has(id))
  const isEveryRow = shown.length > 0 && chosen.length === shown.length
  const hasMore = total !== undefined && total.count > shown.length
  const selection: Selection = selected.all ? { matching: asked } : { ids: chosen.map(({ id }) => id) }
  const text = selected.all && total ? countText(total) : pluralize(chosen.length, 'contact', 'contacts')
  return (
    <>
      {running && <BulkProgress id={running} onClose={() => setRunning(undefined)} />}
      {shown.length > 0 && (
        <Group mb="xs" gap="sm" mih={30}>
          {/* The head of the table, which has one too, is not shown on a phone. */}
          <Box hiddenFrom="sm">
            <SelectAll {...{ shown, selected, onSelect }} />
          </Box>
          {chosen.length === 0 ? (
            <Text c="dimmed" role="status">
              {total ? countText(total) : 'Counting…'}
            </Text>
          ) : (
            <>
              <Text role="status">{text} selected</Text>
              {isEveryRow && hasMore && !selected.all && (
                <Anchor component="button" type="button" onClick={() => onSelect({ ...selected, all: true })}>
                  Select all {countText(total)}
                </Anchor>
              )}
              <Menu position="bottom-start">
                <Menu.Target>
                  <Button size="xs" variant="default" rightSection={<IconChevronDown size={14} aria-hidden />}>
                    Actions
                  </Button>
                </Menu.Target>
                <Menu.Dropdown>
                  {actions.map(({ value, label, danger }) => (
                    <Menu.Item
                      key={value}
                      {...(danger && { color: 'var(--mantine-color-error)' })}
                      onClick={() => setAction(value)}
                    >
                      {label}
                    </Menu.Item>
                  ))}
                </Menu.Dropdown>
              </Menu>
              <Button size="xs" variant="subtle" onClick={() => onSelect(nobody)}>
                Clear selection
              </Button>
            </>
          )}
        </Group>
      )}
      {action && (
        <BulkDialog
          action={action}
          selection={selection}
          contacts={text}
          onClose={() => setAction(undefined)}
          onStarted={(id) => {
            setRunning(id)
            onSelect(nobody)
          }}
        />
      )}
    </>
  )
}
