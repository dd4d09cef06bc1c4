import { Button, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { Webhook } from '../api/types.ts'
import { DialogActions } from '../ui/dialog-actions.tsx'
import { pluralize } from '../ui/numbers.ts'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { replayFailed, useRefreshWebhooks } from './webhooks.api.ts'

const hourMs = 3_600_000
const spans = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
]

type Props = { webhook: Webhook; resumed: boolean; onDone: () => void }

export function ReplayForm({ webhook, resumed, onDone }: Props) {
  const refresh = useRefreshWebhooks()
  const [hours, setHours] = useState('24')
  const replay = useMutation({
    mutationFn: () => replayFailed(webhook.id, new Date(Date.now() - Number(hours) * hourMs).toISOString()),
    onSuccess: async ({ replayed }) => {
      await refresh()
      toast(
        replayed === 0
          ? 'No deliveries failed in this period.'
          : `${pluralize(replayed, 'delivery', 'deliveries')} queued for replay.`,
      )
      onDone()
    },
  })
  return (
    <Stack gap="md">
      {resumed && (
        <Text>
          New events are delivered again. Deliveries that failed before aren’t retried unless you replay them.
        </Text>
      )}
      <Text>
        Every delivery to <strong>{webhook.name}</strong> that failed in this period is sent again with the same body
        and webhook-id.
      </Text>
      <Select
        label="Period"
        data={spans}
        value={hours}
        onChange={(value) => setHours(value ?? '24')}
        allowDeselect={false}
      />
      {replay.isError && <ErrorLine>{messageOf(replay.error)}</ErrorLine>}
      <DialogActions>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
        <Button loading={replay.isPending} onClick={() => replay.mutate()}>
          Replay
        </Button>
      </DialogActions>
    </Stack>
  )
}
