import { Select, Text } from '@mantine/core'
import type { Webhook } from '../../api/types.ts'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { rotateSecret, useRefreshWebhooks } from './webhooks.api.ts'

const overlaps = [
  { value: '0', label: 'Immediately' },
  { value: '1', label: 'After 1 hour' },
  { value: '24', label: 'After 24 hours' },
  { value: '72', label: 'After 3 days' },
]

type Props = { webhook: Webhook; onRotated: (secret: string) => void; onCancel: () => void }

export function RotateForm({ webhook, onRotated, onCancel }: Props) {
  const refresh = useRefreshWebhooks()
  const form = useRequestForm({
    initialValues: { overlap: '24' },
    send: ({ overlap }) => rotateSecret(webhook.id, Number(overlap)),
    onSuccess: (rotated) => {
      onRotated(rotated.signing_secret)
      void refresh()
    },
  })
  return (
    <DialogForm form={form} action="Rotate secret" onCancel={onCancel}>
      <Text>
        Creates a new signing secret. Until the old secret expires, each delivery is signed with both, so you can switch
        without losing deliveries.
      </Text>
      <Select label="Old secret expires" data={overlaps} allowDeselect={false} {...form.field('overlap')} />
    </DialogForm>
  )
}
