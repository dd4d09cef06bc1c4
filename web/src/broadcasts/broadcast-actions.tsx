import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconCopy, IconDots, IconPlayerPause, IconPlayerPlay, IconRefresh, IconTrash, IconX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail } from '../api/types.ts'
import { paths } from '../paths.ts'
import { useMe } from '../session/session.api.ts'
import { Confirm } from '../ui/confirm.tsx'
import { pluralize } from '../ui/numbers.ts'
import { toast } from '../ui/toast.tsx'
import { actions, broadcastQuery, deleteBroadcast, doneOf, duplicateBroadcast } from './broadcasts.api.ts'

type Action = keyof typeof actions

const done: Record<Action, string> = {
  pause: 'Broadcast paused.',
  resume: 'Broadcast resumed.',
  cancel: 'Broadcast cancelled.',
  retryFailed: 'Sending to the failed recipients again.',
}

export function BroadcastActions({ broadcast }: { broadcast: BroadcastDetail }) {
  const { id, status, counts } = broadcast
  const me = useMe()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [asking, setAsking] = useState<'cancel' | 'delete'>()
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: broadcastQuery(id).queryKey })
    await invalidate(keys.broadcastLists)
  }
  const act = useMutation({
    mutationFn: (action: Action) => actions[action](id),
    onSuccess: async (_, action) => {
      toast(done[action])
      await refresh()
    },
    onError: (error) => toast(messageOf(error), 'bad'),
  })
  const duplicate = useMutation({
    mutationFn: () => duplicateBroadcast(id),
    onSuccess: async (copy) => {
      await invalidate(keys.broadcastLists)
      toast(`“${copy.name}” created.`)
      await navigate(paths.broadcast(copy.id))
    },
    onError: (error) => toast(messageOf(error), 'bad'),
  })
  const mayStart = me.data?.user.can_start_broadcasts ?? false
  const isCancellable = ['scheduled', 'preparing', 'sending', 'paused'].includes(status)
  const isDeletable = broadcast.recipients === null && ['draft', 'cancelled', 'expired'].includes(status)
  return (
    <>
      {status === 'sending' && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          loading={act.isPending}
          onClick={() => act.mutate('pause')}
        >
          Pause
        </Button>
      )}
      {status === 'paused' && (
        <Button
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={act.isPending}
          disabled={!mayStart}
          onClick={() => act.mutate('resume')}
        >
          Resume
        </Button>
      )}
      {isCancellable && (
        <Button variant="default" leftSection={<IconX size={16} aria-hidden />} onClick={() => setAsking('cancel')}>
          Cancel broadcast
        </Button>
      )}
      {status === 'sent' && counts.failed > 0 && (
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={act.isPending}
          disabled={!mayStart}
          onClick={() => act.mutate('retryFailed')}
        >
          {`Retry ${pluralize(counts.failed, 'failed recipient', 'failed recipients')}`}
        </Button>
      )}
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More actions">
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => duplicate.mutate()}>
            Duplicate
          </Menu.Item>
          {isDeletable && (
            <Menu.Item
              color="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() => setAsking('delete')}
            >
              Delete
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={asking === 'cancel'}
        onClose={() => setAsking(undefined)}
        title="Cancel this broadcast?"
        action="Cancel broadcast"
        dismiss="Keep it"
        run={async () => {
          await actions.cancel(id)
          toast(done.cancel)
          await refresh()
        }}
      >
        {broadcast.recipients === null
          ? 'Nothing will be sent.'
          : `${pluralize(broadcast.recipients - doneOf(broadcast), 'recipient', 'recipients')} won’t get the email. This can’t be undone.`}
      </Confirm>
      <Confirm
        opened={asking === 'delete'}
        onClose={() => setAsking(undefined)}
        title="Delete this broadcast?"
        action="Delete"
        run={async () => {
          await deleteBroadcast(id)
          await navigate(paths.broadcasts)
          await invalidate(keys.broadcastLists)
        }}
      >
        “{broadcast.name}” will be deleted. This can’t be undone.
      </Confirm>
    </>
  )
}
