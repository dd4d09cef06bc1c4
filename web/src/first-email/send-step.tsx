import { Anchor, Button, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Domain, MessageDetail, SendingStatus } from '../api/types.ts'
import { messageQuery } from '../messages/messages.api.ts'
import { WaitingLine } from '../messages/waiting.tsx'
import { paths } from '../paths.ts'
import { useMe } from '../session/session.api.ts'
import { sendFirstEmail } from '../settings/settings.api.ts'
import { useRequestForm } from '../ui/form.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { SetupStep, type StepState } from './setup-step.tsx'

const refetchMs = 2_000

/** The link in the email shows that it was received. */
const isReceived = ({ events }: MessageDetail) =>
  events.some(({ event_name: name, machine }) => (name === 'emailOpen' || name === 'emailClick') && !machine)

/** Sends an email to the user, and shows what happens to it. */
export function SendStep({ sending, verified }: { sending: SendingStatus; verified: Domain[] }) {
  const me = useMe()
  const [messageId, setMessageId] = useState<string>()
  const { data: message } = useQuery({
    ...messageQuery(messageId ?? ''),
    enabled: messageId !== undefined,
    refetchInterval: ({ state }) => (state.data && isReceived(state.data) ? false : refetchMs),
  })
  const [first] = verified
  const form = useRequestForm({
    initialValues: { from: first ? `hello@${first.name}` : sending.mail_from },
    send: (values) => sendFirstEmail(values.from.trim()),
    onSuccess: (accepted) => setMessageId(accepted.message_id),
  })
  return (
    <SetupStep title="Send an email to yourself" state={stateOf(message)}>
      {sending.transport === 'inbox' && (
        <Text>It will be in the built-in inbox, because no mail server is connected yet.</Text>
      )}
      <form onSubmit={form.submit} style={{ width: '100%', maxWidth: 420 }}>
        <TextInput
          label="From"
          description={`To ${me.data?.user.email ?? 'your address'}`}
          required
          maxLength={320}
          {...form.field('from')}
        />
        <Button type="submit" mt="sm" loading={form.sending}>
          {messageId ? 'Send it again' : 'Send it'}
        </Button>
      </form>
      {form.problem && <ErrorLine>{form.problem}</ErrorLine>}
      {message && <Outcome message={message} transport={sending.transport} />}
    </SetupStep>
  )
}

function stateOf(message: MessageDetail | undefined): StepState {
  if (!message) return 'open'
  if (['bounced', 'failed', 'suppressed'].includes(message.status)) return 'problem'
  return isReceived(message) ? 'done' : 'open'
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
