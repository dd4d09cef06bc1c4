import { validationRefusal } from '../../platform/http/errors.ts'
import { createCheck } from '../../platform/http/validator.ts'
import { hourMs, minuteMs } from '../../platform/values/durations.ts'
import { invalid } from '../../platform/values/errors.ts'
import { parseTimestamp } from '../../platform/values/timestamp.ts'
import { checkNoUrl } from '../acceptance/attachment-input.ts'
import { EmailIn, type EmailInput } from '../acceptance/email-input.ts'

const checkEmail = createCheck(EmailIn)

/** Fields of the Resend API that have no counterpart. Ignoring them would send another email than intended. */
const unsupported: Record<string, string> = {
  template: 'is not supported. Send html or text, or use a flow',
  topic_id: 'is not supported',
  region: 'is not supported',
}

/** Returns the email of a request to the Resend API. Throws `Refusal` if it is invalid, or has unsupported fields. */
export function readResendEmail(body: unknown): EmailInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid({ path: 'body', problem: 'must be object' })
  const given = body as Record<string, unknown>
  for (const [field, problem] of Object.entries(unsupported))
    if (given[field] !== undefined && given[field] !== null) throw invalid({ path: field, problem })
  const { scheduled_at: scheduledAt, attachments } = given
  const email: Record<string, unknown> = {
    attachments: Array.isArray(attachments) ? attachments.map(readAttachment) : attachments,
    send_at: readScheduledAt(scheduledAt),
  }
  // Not by spreading, which takes a microsecond for each of ten thousands of unknown fields.
  for (const name in given)
    if (name !== 'scheduled_at' && !Object.hasOwn(email, name) && !Object.hasOwn(unsupported, name))
      email[name] = given[name]
  const found = checkEmail(email)
  if (found) throw validationRefusal(found.errors)
  return email as unknown as EmailInput
}

/** Files without a name get one. */
function readAttachment(attachment: unknown, index: number): unknown {
  if (typeof attachment !== 'object' || attachment === null) return attachment
  const { filename, content, content_type, content_id, inline_content_id, path, ...rest } = attachment as Record<
    string,
    unknown
  >
  if (path !== undefined && path !== null) checkNoUrl(`attachments.${index}`, { path })
  return {
    ...rest,
    filename: filename || `attachment-${index + 1}`,
    content: textOf(content),
    content_type,
    content_id: content_id ?? inline_content_id,
  }
}

/** The SDK for Python sends a file as an array of bytes. */
const textOf = (content: unknown): unknown =>
  Array.isArray(content) && content.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
    ? Buffer.from(content).toString('base64')
    : content

const inSome = /^in (\d{1,5}|an?) (min|minute|hour|day)s?$/i
const unitMs: Record<string, number> = { min: minuteMs, minute: minuteMs, hour: hourMs, day: 24 * hourMs }

const withoutZone = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?$/

/** ISO 8601, in UTC if it has no zone, or a time from now, such as "in 5 minutes". */
export function readScheduledAt(input: unknown): string | undefined {
  if (input === undefined || input === null || input === '') return undefined
  const text = String(input).trim()
  const relative = inSome.exec(text)
  if (relative) {
    const count = /^\d/.test(relative[1]!) ? Number(relative[1]) : 1
    return new Date(Date.now() + count * unitMs[relative[2]!.toLowerCase()]!).toISOString()
  }
  // Python's datetime.isoformat() writes no zone, unless the time has one.
  if (withoutZone.test(text)) return readScheduledAt(`${text}Z`)
  if (!parseTimestamp(text))
    throw invalid({ path: 'scheduled_at', problem: 'must be an ISO 8601 time, or for example "in 5 minutes"' })
  return text
}
