import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import { NotSent } from '../flows/not-sent.tsx'
import { paths } from '../paths.ts'
import { useMe } from '../session/session.api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { testBroadcast } from './broadcasts.api.ts'
import { variantKeys } from './draft.ts'

type Props = {
  opened: boolean
  onClose: () => void
  broadcastId: string
  /** The number of variants; each is sent. */
  variants: number
  ensureSaved: () => Promise<void>
}

export function TestDialog({ opened, onClose, broadcastId, variants, ensureSaved }: Props) {
  const me = useMe()
  const invalidate = useInvalidate()
  const [typed, setTyped] = useState<string>()
  const to = typed ?? me.data?.user.email ?? ''
  const send = useMutation({
    mutationFn: async () => {
      await ensureSaved()
      const first = await testBroadcast(broadcastId, to.trim())
      for (const key of variantKeys.slice(1, variants)) await testBroadcast(broadcastId, to.trim(), key)
      return first
    },
    onSuccess: () => invalidate(keys.messages, keys.inbox),
  })
  const close = () => {
    send.reset()
    onClose()
  }
  return (
    <Dialog opened={opened} onClose={close} title="Send test email" saved={send.isSuccess}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="To"
            type="email"
            required
            data-autofocus
            value={to}
            onChange={(event) => setTyped(event.currentTarget.value)}
            error={fieldProblem(send.error, 'to')}
          />
          <Text size="xs" c="dimmed">
            Uses the values of this broadcast.{variants > 0 && ` Sends one email per variant.`}
          </Text>
          <ErrorLine>{formProblem(send.error, ['to'])}</ErrorLine>
          {send.data?.status === 'suppressed' && <NotSent messageId={send.data.message_id} />}
          {send.data && send.data.status !== 'suppressed' && (
            <Notice tone="info" role="status" title="Queued for sending">
              <Anchor component={Link} to={paths.message(send.data.message_id)}>
                View delivery
              </Anchor>
            </Notice>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Close
            </Button>
            <Button type="submit" loading={send.isPending}>
              Send test email
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
