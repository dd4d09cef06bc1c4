import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { formProblem } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail, Flow } from '../api/types.ts'
import { Dialog } from '../ui/dialog.tsx'
import { pluralize } from '../ui/numbers.ts'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { broadcastQuery, scheduleBroadcast, startBroadcast } from './broadcasts.api.ts'
import type { Draft } from './draft.ts'
import { localTimeText } from './local-time.ts'

type Props = {
  opened: boolean
  onClose: () => void
  broadcast: BroadcastDetail
  draft: Draft
  flow: Flow | undefined
  recipients: number
  /** The number of recipients has changed since the check, or the broadcast cannot be started. */
  onRejected: () => void
}

/** The last question before anything is sent: it names the exact number of recipients. */
export function StartDialog({ opened, onClose, broadcast, draft, flow, recipients, onRejected }: Props) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const isNow = draft.when === 'now'
  const people = pluralize(recipients, 'recipient', 'recipients')
  const start = useMutation({
    mutationFn: () => (isNow ? startBroadcast : scheduleBroadcast)(broadcast.id, recipients),
    onSuccess: async () => {
      onClose()
      toast(isNow ? 'Broadcast started.' : 'Broadcast scheduled.')
      await queries.invalidateQueries({ queryKey: broadcastQuery(broadcast.id).queryKey })
      await invalidate(keys.broadcastLists)
    },
  })
  const close = () => {
    if (start.isError) onRejected()
    start.reset()
    onClose()
  }
  return (
    <Dialog opened={opened} onClose={close} title={isNow ? 'Start this broadcast?' : 'Schedule this broadcast?'}>
      <Stack gap="md">
        <Text>
          <strong>{flow?.name ?? 'The flow'}</strong> will be sent to <strong>{people}</strong>
          {isNow ? ' now' : ` on ${localTimeText(draft)}`}.
          {!isNow && ' The audience is read again at that time, so the number can change until then.'}
        </Text>
        <Text size="sm" c="dimmed">
          You can pause or cancel it, but emails that were sent can’t be taken back.
        </Text>
        <ErrorLine>{formProblem(start.error)}</ErrorLine>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Not yet
          </Button>
          <Button loading={start.isPending} disabled={start.isError} onClick={() => start.mutate()}>
            {isNow ? `Send to ${people}` : `Schedule for ${people}`}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
