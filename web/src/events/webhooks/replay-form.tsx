import { Select, Text } from '@mantine/core'
import type { Webhook } from '../../api/types.ts'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { pluralize } from '../../ui/numbers.ts'
import { toast } from '../../ui/toast.tsx'
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
  const form = useRequestForm({
    initialValues: { hours: '24' },
    send: ({ hours }) => replayFailed(webhook.id, new Date(Date.now() - Number(hours) * hourMs).toISOString()),
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
    <DialogForm form={form} action="Replay" onCancel={onDone}>
      {resumed && (
        <Text>
          New events are delivered again. Deliveries that failed before aren’t retried unless you replay them.
        </Text>
      )}
      <Text>
        Every delivery to <strong>{webhook.name}</strong> that failed in this period is sent again with the same body
        and webhook-id.
      </Text>
      <Select label="Period" data={spans} allowDeselect={false} {...form.field('hours')} />
    </DialogForm>
  )
}
