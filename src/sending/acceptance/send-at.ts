import { Type } from 'typebox'
import { Nullable } from '../../platform/http/envelope.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { invalid } from '../../platform/values/errors.ts'
import { parseTimestamp, timestampProblem } from '../../platform/values/timestamp.ts'

const scheduleDaysMax = 90

export const SendAt = Type.Optional(
  Nullable(
    Type.String({
      format: 'date-time',
      description: `When to send the email: an RFC 3339 time, at most ${scheduleDaysMax} days ahead. It is sent at once if the time has passed or is omitted.`,
    }),
  ),
)

/** Returns null for a time that has passed. */
export function parseSendAt(text: string | undefined, path = 'send_at'): Date | null {
  if (text === undefined) return null
  const sendAt = parseTimestamp(text)
  if (!sendAt) throw invalid({ path, problem: timestampProblem })
  const inMs = sendAt.getTime() - Date.now()
  if (inMs > scheduleDaysMax * dayMs)
    throw invalid({ path, problem: `must be at most ${scheduleDaysMax} days in the future` })
  return inMs > 0 ? sendAt : null
}
