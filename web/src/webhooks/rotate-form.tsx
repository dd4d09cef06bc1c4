import { Button, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import type { Webhook } from '../api/types.ts'
import { DialogActions } from '../ui/dialog-actions.tsx'
import { ErrorLine } from '../ui/states.tsx'
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
        Creates a new signing secret. Until the old secret expires, each delivery is signed with both, so you can switch
        without losing deliveries.
      </Text>
      <Select
        label="Old secret expires"
        data={overlaps}
        value={overlap}
        onChange={(value) => setOverlap(value ?? '24')}
        allowDeselect={false}
      />
      {rotate.isError && <ErrorLine>{messageOf(rotate.error)}</ErrorLine>}
      <DialogActions>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate secret
        </Button>
      </DialogActions>
    </Stack>
  )
}
