import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { BroadcastDetail } from '../api/types.ts'
import { Notice } from '../ui/notice.tsx'
import { count } from '../ui/numbers.ts'
import { AttemptTime } from '../ui/time.tsx'
import { ZonedTime } from './zoned-time.tsx'

type Wait = BroadcastDetail['waiting'][number]

/** Why the broadcast, or some of its emails, are not sent at this moment, and until when. */
export function Waits({ waits }: { waits: Wait[] }) {
  return (
    <div aria-live="polite">
      {waits.map((wait) => (
        <Notice key={wait.cause} tone={toneOf(wait)} title={titleOf(wait)}>
          <Text component="div" size="sm" className="break">
            {endOf(wait)}
          </Text>
        </Notice>
      ))}
    </div>
  )
}

/** What the user has planned is no problem. */
const planned: Wait['cause'][] = ['messages_per_hour', 'sending_hours', 'local_time']
const toneOf = ({ cause }: Wait) => (planned.includes(cause) ? 'info' : 'warn')

function titleOf({ cause, recipients, detail }: Wait): string {
  const some = recipients === null ? '' : `${count(recipients)} `
  switch (cause) {
    case 'paused':
      return 'All sending is paused'
    case 'mail_server_unreachable':
      return withDetail(recipients === null ? 'The mail server does not accept email' : `${some}wait`, detail)
    case 'daily_limit':
      return `The daily limit of ${detail} is reached`
    case 'limit':
      return recipients === null ? `The rate of ${detail} is limited` : `${some}wait for the ${detail}`
    case 'messages_per_hour':
      return `At most ${count(Number(detail))} emails per hour`
    case 'sending_hours':
      return 'Outside the sending hours'
    case 'local_time':
      return 'Waiting for the local time of the recipients'
    case 'deferred':
      return withDetail(`${some}deferred`, detail)
  }
}

const withDetail = (title: string, detail: string | null) => (detail ? `${title}: ${detail.replace(/\.$/, '')}` : title)

function endOf({ cause, until }: Wait): ReactNode {
  if (cause === 'paused') return 'The rest is sent when the operator of this installation resumes sending.'
  if (cause === 'mail_server_unreachable' || cause === 'deferred')
    return <>Next attempt {until ? <AttemptTime at={until} /> : 'in a moment'}.</>
  if (!until) return null
  return cause === 'daily_limit' || cause === 'sending_hours' || cause === 'local_time' ? (
    <>
      The rest follows from <ZonedTime at={until} /> on.
    </>
  ) : (
    <>
      The next emails leave <AttemptTime at={until} />.
    </>
  )
}
