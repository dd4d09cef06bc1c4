import { Anchor, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { useMe } from '../../accounts/session/session.api.ts'
import { sendFirstEmail, sendingQuery } from '../../accounts/settings/settings.api.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { MessageDetail, SendingStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { messageQuery } from '../../sending/messages/messages.api.ts'
import { WaitingLine } from '../../sending/messages/waiting.tsx'
import { useRequestForm } from '../../ui/form.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { SenderField } from '../domains/sender-field.tsx'

const refetchMs = 2_000

/** The link in the email shows that it was received. */
const isReceived = ({ events }: MessageDetail) =>
  events.some(({ event_name: name, machine }) => (name === 'emailOpen' || name === 'emailClick') && !machine)

/** Sends an email to the user, and shows what happens to it. */
export function SendForm({ isDone }: { isDone: boolean }) {
  const me = useMe()
  const sending = useQuery(sendingQuery)
  const invalidate = useInvalidate()
  const [messageId, setMessageId] = useState<string>()
  const { data: message } = useQuery({
    ...messageQuery(messageId ?? ''),
    enabled: messageId !== undefined,
    refetchInterval: ({ state }) => (state.data && isReceived(state.data) ? false : refetchMs),
  })
  const form = useRequestForm({
    initialValues: { from: null as string | null },
    send: ({ from }) => sendFirstEmail(from),
    onSuccess: async (accepted) => {
      setMessageId(accepted.message_id)
      await invalidate(keys.setup)
    },
  })
  const { error } = form.field('from')
  return (
    <>
      <form onSubmit={form.submit} style={{ width: '100%', maxWidth: 420 }}>
        <SenderField
          explainsDefault={false}
          value={form.values.from}
          onChange={(from) => form.set({ from })}
          error={error}
        />
        <Button
          type="submit"
          mt="sm"
          size="xs"
          variant={isDone ? 'default' : 'filled'}
          loading={form.sending}
        >{`${messageId ? 'Send it again' : 'Send it'} to ${me.data?.user.email ?? 'me'}`}</Button>
      </form>
      {form.problem && <ErrorLine>{form.problem}</ErrorLine>}
      {message && sending.data && <Outcome message={message} transport={sending.data.transport} />}
    </>
  )
}

const outcomes: Partial<Record<MessageDetail['status'], string>> = {
  queued: 'Queued. It leaves in a moment.',
  bounced: 'The mail server rejected it.',
  failed: 'It could not be sent.',
  suppressed: 'It was not sent, because your address is suppressed.',
}

function Outcome({ message, transport }: { message: MessageDetail; transport: SendingStatus['transport'] }) {
  const carrier = message.mail_server?.name ?? 'the mail server'
  return (
    <div role="status">
      {message.status !== 'sent' && <Text>{outcomes[message.status] ?? message.status}</Text>}
      {message.status === 'sent' && transport === 'inbox' && (
        <Text>
          It is in the{' '}
          <Anchor component={Link} to={paths.inbox}>
            inbox
          </Anchor>
          .
        </Text>
      )}
      {message.status === 'sent' && transport === 'smtp' && !isReceived(message) && (
        <Text>
          Accepted by {carrier}. Open it in your mailbox and click the link in it. Look into the spam folder, too.
        </Text>
      )}
      {isReceived(message) && <Text fw={500}>It has arrived: real email works.</Text>}
      <WaitingLine message={message} />
      {message.relay_response && (
        <Text size="sm" c="dimmed" className="break">
          {message.relay_response}
        </Text>
      )}
      <Anchor component={Link} to={paths.message(message.id)}>
        Show this message
      </Anchor>
    </div>
  )
}
