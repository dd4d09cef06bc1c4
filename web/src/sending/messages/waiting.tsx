import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { sendingQuery } from '../../accounts/settings/settings.api.ts'
import type { Message } from '../../api/types.ts'
import { Notice } from '../../ui/notice.tsx'
import { AttemptTime } from '../../ui/time.tsx'

type Waiting = NonNullable<Message['waiting']>

const titles = {
  mail_server_unreachable: 'Can’t connect to the mail server',
  limit: 'Waits because of a limit',
  deferred: 'Deferred by the mail server',
  paused: 'Sending is paused',
} as const

/** Why a queued email is delayed. Undefined if it will be sent in a moment. */
function useDelay(message: Pick<Message, 'status' | 'waiting'>) {
  const isQueued = message.status === 'queued' && message.waiting !== null
  const { data: sending } = useQuery({ ...sendingQuery, enabled: isQueued })
  if (!isQueued) return undefined
  if (sending?.paused_since)
    return { title: titles.paused, detail: 'It is sent when the operator resumes sending', next: null }
  const { cause, detail, next_attempt_at: next } = message.waiting as Waiting
  if (cause !== 'queued') return { title: titles[cause], detail, next }
  // Another process sends the emails, and reports no progress.
  if (sending?.state === 'failing')
    return { title: titles.mail_server_unreachable, detail: sending.last_error, next: sending.next_attempt_at }
  return undefined
}

/** Below the status in a list. */
export function WaitingLine({ message }: { message: Pick<Message, 'status' | 'waiting'> }) {
  const delay = useDelay(message)
  if (!delay) return null
  return (
    <Text size="xs" c="dimmed" mt={2} title={delay.detail ?? undefined}>
      {delay.title}
      {delay.next && (
        <>
          , next attempt <AttemptTime at={delay.next} />
        </>
      )}
    </Text>
  )
}

/** On the page of a message. */
export function WaitingNotice({ message }: { message: Pick<Message, 'status' | 'waiting'> }) {
  const delay = useDelay(message)
  if (!delay) return null
  return (
    <Notice tone="warn" role="status" title={`Not sent yet: ${delay.title[0]?.toLowerCase()}${delay.title.slice(1)}`}>
      {delay.detail && <span className="break">{delay.detail.replace(/\.$/, '')}. </span>}
      {delay.next ? (
        <>
          Next attempt <AttemptTime at={delay.next} />.
        </>
      ) : (
        delay.title !== titles.paused && 'It will be sent as soon as the connection works again.'
      )}
    </Notice>
  )
}
