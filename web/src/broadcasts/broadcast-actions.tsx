import { Button } from '@mantine/core'
import { IconCopy, IconPlayerPause, IconPlayerPlay, IconRefresh, IconTrash, IconX } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { useMay } from '../accounts/session/session.api.ts'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail } from '../api/types.ts'
import { paths } from '../paths.ts'
import { ActionMenu } from '../ui/action-menu.tsx'
import { ConfirmButton } from '../ui/confirm.tsx'
import { pluralize } from '../ui/numbers.ts'
import { toast } from '../ui/toast.tsx'
import { actions, broadcastQuery, deleteBroadcast, doneOf, duplicateBroadcast } from './broadcasts.api.ts'
import { ScheduledActions } from './scheduled-actions.tsx'
import { SendAgainButton } from './send-again.tsx'

type Action = keyof typeof actions

const done: Record<Action, string> = {
  pause: 'Broadcast paused.',
  resume: 'Broadcast resumed.',
  cancel: 'Broadcast cancelled.',
  retryFailed: 'Sending to the failed recipients again.',
}

export function BroadcastActions({ broadcast, isEditing }: { broadcast: BroadcastDetail; isEditing: boolean }) {
  const { id, status, counts } = broadcast
  const may = useMay()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const invalidate = useInvalidate()
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
  const mayStart = may('broadcasts:send')
  const mayChange = mayStart && (!broadcast.service_announcement || may('broadcasts:announce'))
  const isCancellable = ['scheduled', 'preparing', 'sending', 'paused'].includes(status)
  const isDeletable = broadcast.recipients === null && ['draft', 'cancelled', 'expired'].includes(status)
  return (
    <>
      {status === 'scheduled' && mayChange && !isEditing && <ScheduledActions broadcast={broadcast} />}
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
        <ConfirmButton
          leftSection={<IconX size={16} aria-hidden />}
          confirm={{
            title: 'Cancel this broadcast?',
            action: 'Cancel broadcast',
            dismiss: 'Keep it',
            children:
              broadcast.recipients === null
                ? 'Nothing will be sent.'
                : `${pluralize(broadcast.recipients - doneOf(broadcast), 'recipient', 'recipients')} won’t get the email. This can’t be undone.`,
            run: async () => {
              await actions.cancel(id)
              toast(done.cancel)
              await refresh()
            },
          }}
        >
          Cancel broadcast
        </ConfirmButton>
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
      {status === 'sent' && broadcast.results.not_opened > 0 && <SendAgainButton broadcast={broadcast} />}
      <ActionMenu
        actions={[
          { label: 'Duplicate', icon: IconCopy, run: () => duplicate.mutate() },
          isDeletable && {
            label: 'Delete',
            icon: IconTrash,
            danger: true,
            confirm: {
              title: 'Delete this broadcast?',
              action: 'Delete',
              children: `“${broadcast.name}” will be deleted. This can’t be undone.`,
              run: async () => {
                await deleteBroadcast(id)
                await navigate(paths.broadcasts)
                await invalidate(keys.broadcastLists)
              },
            },
          },
        ]}
      />
    </>
  )
}
