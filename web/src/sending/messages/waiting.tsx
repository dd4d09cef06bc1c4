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
  broadcast_paused: 'Its broadcast is paused',
  queued: 'Waits for its next attempt',
} as const

/** How a wait ends if its time is not known. */
const ends = {
  paused: 'It is sent when the operator resumes sending.',
  broadcast_paused: 'It is sent when the broadcast is resumed.',
  mail_server_unreachable: 'It will be sent as soon as the connection works again.',
  limit: 'Next attempt in a moment.',
  deferred: 'Next attempt in a moment.',
  queued: 'Next attempt in a moment.',
} as const satisfies Record<keyof typeof titles, string>

type Delay = { cause: keyof typeof titles; detail: string | null; next: string | null }

/** Why a queued email is delayed. Undefined if it will be sent in a moment. */
function useDelay(message: Pick<Message, 'status' | 'waiting'>): Delay | undefined {
  const isQueued = message.status === 'queued' && message.waiting !== null
  const { data: sending } = useQuery({ ...sendingQuery, enabled: isQueued })
  if (!isQueued) return undefined
  if (sending?.paused_since) return { cause: 'paused', detail: null, next: null }
  const { cause, detail, next_attempt_at: next } = message.waiting as Waiting
  if (cause !== 'queued') return { cause, detail, next }
  // Another process sends the emails, and reports no progress.
  if (sending?.state === 'failing')
    return { cause: 'mail_server_unreachable', detail: sending.last_error, next: sending.next_attempt_at }
  return detail === null && next === null ? undefined : { cause, detail, next }
}

/** Below the status in a list. */
export function WaitingLine({ message }: { message: Pick<Message, 'status' | 'waiting'> }) {
  const delay = useDelay(message)
  if (!delay) return null
  return (
    <Text size="xs" c="dimmed" mt={2} title={delay.detail ?? undefined}>
      {titles[delay.cause]}
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
  const { cause, detail, next } = delay
  return (
    <Notice tone="warn" role="status" title={`Not sent yet: ${lowerFirst(titles[cause])}`}>
      {detail && <span className="break">{upperFirst(detail).replace(/\.$/, '')}. </span>}
      {next ? (
        <>
          Next attempt <AttemptTime at={next} />.
        </>
      ) : (
        ends[cause]
      )}
    </Notice>
  )
}

const lowerFirst = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`
const upperFirst = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
