import type { ApiRequest } from '../../api/types.ts'
import { describe } from '../../ui/descriptions.ts'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

export function RequestStatus({ request: { status, not_sent: notSent } }: { request: ApiRequest }) {
  if (notSent === null) return <StatusBadge tone={toneOf(status)}>{status}</StatusBadge>
  return <StatusBadge tone="warn">{status}, not sent</StatusBadge>
}

/** Why emails of a successful request are not sent. */
export const notSentText = ({ not_sent: reasons }: ApiRequest) => reasons?.split(', ').map(describe).join(' ')

/** Fractions of a millisecond matter only for the fastest requests. */
export const durationOf = ({ duration_ms: ms }: ApiRequest) =>
  `${ms.toLocaleString('en', { maximumFractionDigits: ms < 10 ? 1 : 0 })} ms`
