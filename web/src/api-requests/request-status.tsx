import type { ApiRequest } from '../api/types.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

export function RequestStatus({ request: { status } }: { request: ApiRequest }) {
  return <StatusBadge tone={toneOf(status)}>{status}</StatusBadge>
}

/** Fractions of a millisecond matter only for the fastest requests. */
export const durationOf = ({ duration_ms: ms }: ApiRequest) =>
  `${ms.toLocaleString('en', { maximumFractionDigits: ms < 10 ? 1 : 0 })} ms`
