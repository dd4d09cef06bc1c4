import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Flow } from '../api/types.ts'
import { paths } from '../paths.ts'
import { useMe } from '../session/session.api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { sendTest } from './flows.api.ts'
import { NotSent } from './not-sent.tsx'
import type { Context } from './sample-data.ts'

type Props = { opened: boolean; onClose: () => void; flow: Flow; context: Context; dirty: boolean }

export function TestDialog({ opened, onClose, flow, context, dirty }: Props) {
  const me = useMe()
  const invalidate = useInvalidate()
  const [typed, setTyped] = useState<string>()
  const to = typed ?? me.data?.user.email ?? ''
  const send = useMutation({
    mutationFn: () => sendTest(flow.id, { to: to.trim(), context }),
    onSuccess: () => invalidate(keys.messages, keys.inbox, keys.checklist, keys.sending),
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
          {dirty && <Notice tone="warn">The saved version will be sent. Save your changes first to test them.</Notice>}
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
            Uses the sample data from the editor. Test emails count in your stats, trigger webhooks, and create a
            contact if the address is new.
          </Text>
          <ErrorLine>{formProblem(send.error, ['to'])}</ErrorLine>
          {send.data?.status === 'suppressed' && <NotSent messageId={send.data.message_id} />}
          {send.data?.status === 'queued' && (
            <Notice tone="info" role="status" title="Queued for sending">
              <Anchor component={Link} to={paths.message(send.data.message_id)}>
                View delivery
              </Anchor>
              {me.data?.mail.transport === 'inbox' && (
                <>
                  {' '}
                  or{' '}
                  <Anchor component={Link} to={paths.inboxEmail(send.data.message_id)}>
                    open it in the inbox
                  </Anchor>
                </>
              )}
              .
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
