import type { ProviderEvent } from './delivery-status.ts'
import { codeOf, type Json, objectOf, textOf } from './json.ts'
import { readSesEvent } from './ses-event.ts'

const nestingMax = 3

/** Finds a notification of Amazon SES, SendGrid, Mailgun or Postmark in the text of a mail. Returns null if there is none. */
export function findProviderEvent(text: string): ProviderEvent | null {
  return readEvent(parseJson(text), 0)
}

function readEvent(json: unknown, depth: number): ProviderEvent | null {
  if (Array.isArray(json)) return merge(json.slice(0, 10).flatMap((one) => readEvent(one, depth + 1) ?? []))
  const event = objectOf(json)
  // SNS wraps the notification as a string.
  const wrapped = textOf(event.Message)
  if (wrapped !== '' && depth < nestingMax) return readEvent(parseJson(wrapped), depth + 1)
  return readSesEvent(event) ?? readSendGridEvent(event) ?? readMailgunEvent(event) ?? readPostmarkEvent(event)
}

function merge(events: ProviderEvent[]): ProviderEvent | null {
  const [first] = events
  if (!first) return null
  return {
    ...first,
    recipients: events.flatMap(({ recipients }) => recipients),
    complaints: events.flatMap(({ complaints }) => complaints),
    isComplaint: events.some(({ isComplaint }) => isComplaint),
  }
}

/** From the first brace of a line to the last one. Relays may break a long line anywhere. */
function parseJson(text: string): unknown {
  const start = /^[ \t]{0,8}[{[]/m.exec(text)
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1
  if (!start || end <= start.index) return undefined
  // The footer of a topic follows a signature line and may contain braces.
  const whole = text.slice(start.index, end)
  const body = whole.split(/\n--[ \t]*\n/, 1)[0]!
  for (const candidate of [body, body.replace(/!?\n ?/g, '')]) {
    try {
      return JSON.parse(candidate)
    } catch {}
  }
  return undefined
}

const lower = (value: unknown) => textOf(value).toLowerCase()

type Failure = { recipient: string; isPermanent: boolean; status: string; diagnostic: string }

function failure(one: Failure, messageId = ''): ProviderEvent {
  const recipients = one.recipient === '' ? [] : [{ ...one, action: 'failed' as const }]
  return { recipients, complaints: [], isComplaint: false, feedbackType: 'abuse', messageId: cleanId(messageId) }
}

function complaintBy(recipient: string, messageId = ''): ProviderEvent {
  const complaints = recipient === '' ? [] : [recipient]
  return { recipients: [], complaints, isComplaint: true, feedbackType: 'abuse', messageId: cleanId(messageId) }
}

const cleanId = (value: string) => value.replace(/^<|>$/g, '') || null

function readSendGridEvent(event: Json): ProviderEvent | null {
  const recipient = lower(event.email)
  const id = textOf(event['smtp-id'])
  if (recipient === '') return null
  switch (lower(event.event)) {
    case 'spamreport':
      return complaintBy(recipient, id)
    case 'bounce':
    case 'blocked': {
      const isPermanent = lower(event.type) !== 'blocked' && lower(event.event) === 'bounce'
      return failure({ recipient, isPermanent, status: textOf(event.status), diagnostic: textOf(event.reason) }, id)
    }
    default:
      return null
  }
}

function readMailgunEvent(json: Json): ProviderEvent | null {
  const event = objectOf(json['event-data'])
  const recipient = lower(event.recipient)
  const headers = objectOf(objectOf(event.message).headers)
  const id = textOf(headers['message-id'])
  const status = objectOf(event['delivery-status'])
  if (lower(event.event) === 'complained') return complaintBy(recipient, id)
  if (lower(event.event) !== 'failed') return null
  const diagnostic = [codeOf(status.code), textOf(status.message), textOf(status.description)].join(' ').trim()
  return failure(
    {
      recipient,
      isPermanent: lower(event.severity) === 'permanent',
      status: textOf(status['enhanced-code']),
      diagnostic,
    },
    id,
  )
}

function readPostmarkEvent(event: Json): ProviderEvent | null {
  const recipient = lower(event.Email)
  const id = textOf(event.MessageID)
  if (lower(event.RecordType) === 'spamcomplaint') return complaintBy(recipient, id)
  if (lower(event.RecordType) !== 'bounce') return null
  const isPermanent = ['hardbounce', 'bademailaddress'].includes(lower(event.Type))
  return failure({ recipient, isPermanent, status: '', diagnostic: textOf(event.Details) }, id)
}
