import { Button, Group, Progress, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { BulkAction } from '../../api/types.ts'
import { Notice } from '../../ui/notice.tsx'
import { count, pluralize } from '../../ui/numbers.ts'
import { Failed } from '../../ui/states.tsx'
import { bulkActionQuery, cancelBulkAction } from './bulk.api.ts'
import { useRefreshContacts } from './contacts.api.ts'

const terms: Record<BulkAction['action'], { doing: string; done: string }> = {
  add_to_group: { doing: 'Adding to the group', done: 'added to the group' },
  remove_from_group: { doing: 'Removing from the group', done: 'removed from the group' },
  unsubscribe: { doing: 'Unsubscribing', done: 'unsubscribed' },
  suppress: { doing: 'Suppressing', done: 'suppressed' },
  erase: { doing: 'Erasing', done: 'erased' },
}

/** The progress of a bulk action, and its result. */
export function BulkProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const { data: action, error, refetch } = useQuery(bulkActionQuery(id))
  const refresh = useRefreshContacts()
  const isFinished = Boolean(action?.finished_at)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the action has finished.
  useEffect(() => {
    if (isFinished) void refresh()
  }, [isFinished])
  if (!action) return error ? <Failed error={error} retry={refetch} /> : null
  return (
    <Group mb="md" display="block">
      {isFinished ? <Result action={action} onClose={onClose} /> : <Running action={action} />}
    </Group>
  )
}

function Running({ action }: { action: BulkAction }) {
  const { doing } = terms[action.action]
  const { processed, total } = action
  return (
    <Notice tone="info" title={doing}>
      <Progress.Root size="sm" my="xs">
        <Progress.Section value={total ? (100 * processed) / total : 0} aria-label={doing} />
      </Progress.Root>
      <Group justify="space-between">
        <Text size="sm">{total === null ? 'Selecting contacts…' : `${count(processed)} of ${count(total)}`}</Text>
        <Button size="xs" variant="default" onClick={() => void cancelBulkAction(action.id).catch(() => {})}>
          Stop
        </Button>
      </Group>
    </Notice>
  )
}

function Result({ action, onClose }: { action: BulkAction; onClose: () => void }) {
  const { status, changed, processed, reason } = action
  const unchanged = processed - changed
  return (
    <Notice tone={status === 'done' ? 'good' : 'warn'} role="status">
      <Group justify="space-between">
        <Text>
          {status === 'cancelled' && 'Stopped. '}
          {status === 'failed' && `${reason} `}
          {pluralize(changed, 'contact', 'contacts')} {terms[action.action].done}
          {unchanged > 0 && `, ${count(unchanged)} unchanged`}.
        </Text>
        <Button size="xs" variant="default" onClick={onClose}>
          Dismiss
        </Button>
      </Group>
    </Notice>
  )
}
