import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { Webhook } from '../api/types.ts'
import { counted } from '../ui/numbers.ts'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { replayFailed, useRefreshWebhooks } from './webhooks.api.ts'

const hourMs = 3_600_000
const spans = [
  { value: '1', label: 'the last hour' },
  { value: '24', label: 'the last 24 hours' },
  { value: '168', label: 'the last 7 days' },
  { value: '720', label: 'the last 30 days' },
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
          ? 'Nothing had failed in that time.'
          : `${counted(replayed, 'delivery is on its', 'deliveries are on their')} way again.`,
      )
      onDone()
    },
  })
  return (
    <Stack gap="md">
      {resumed && (
        <Text>
          New events are delivered again. Deliveries that failed before are not retried unless you replay them now.
        </Text>
      )}
      <Text>
        Every delivery to <strong>{webhook.name}</strong> that failed in this time is sent again, with the same body and
        the same webhook-id.
      </Text>
      <Select
        label="Failed in"
        data={spans}
        value={hours}
        onChange={(value) => setHours(value ?? '24')}
        allowDeselect={false}
      />
      {replay.isError && <ErrorLine>{messageOf(replay.error)}</ErrorLine>}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
        <Button loading={replay.isPending} onClick={() => replay.mutate()}>
          Replay
        </Button>
      </Group>
    </Stack>
  )
}
