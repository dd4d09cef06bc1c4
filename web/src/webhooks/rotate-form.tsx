import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { Webhook } from '../api/types.ts'
import { ErrorLine } from '../ui/states.tsx'
import { rotateSecret, useRefreshWebhooks } from './webhooks.api.ts'

const overlaps = [
  { value: '0', label: 'At once: the old secret stops now' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '72', label: '3 days' },
]

type Props = { webhook: Webhook; onRotated: (secret: string) => void; onCancel: () => void }

export function RotateForm({ webhook, onRotated, onCancel }: Props) {
  const refresh = useRefreshWebhooks()
  const [overlap, setOverlap] = useState('24')
  const rotate = useMutation({
    mutationFn: () => rotateSecret(webhook.id, Number(overlap)),
    onSuccess: (rotated) => {
      onRotated(rotated.signing_secret)
      void refresh()
    },
  })
  return (
    <Stack gap="md">
      <Text>
        A new secret is made. For the time you choose each delivery carries two signatures, made with the new and the
        old secret, so that you can change over without losing one.
      </Text>
      <Select
        label="The old secret also signs for"
        data={overlaps}
        value={overlap}
        onChange={(value) => setOverlap(value ?? '24')}
        allowDeselect={false}
      />
      {rotate.isError && <ErrorLine>{messageOf(rotate.error)}</ErrorLine>}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate secret
        </Button>
      </Group>
    </Stack>
  )
}
