import { findAddresses, recipientsMax } from './addresses.ts'
import { readHeaders } from './fields.ts'
import { type Header, headerValue, headerValues, type MailParts } from './mail-parts.ts'

const hopsMax = 50

/** The headers of a returned message. */
export type OriginalMessage = {
  headers: Header[]
  messageId: string | null
  recipients: string[]
  senders: string[]
  /** Queue ids of the relays, from the `Received` fields. */
  queueIds: string[]
}

export function readOriginal(text: string): OriginalMessage {
  const headers = readHeaders(text)
  const addresses = (name: string) => headerValues(headers, name).flatMap(findAddresses)
  const received = headerValues(headers, 'received').slice(0, hopsMax)
  const recipients = recipientHeaders.map(addresses).find((found) => found.length > 0) ?? []
  return {
    headers,
    messageId: messageIdOf(headerValue(headers, 'message-id')),
    recipients: [...new Set(recipients)].slice(0, recipientsMax),
    senders: [...new Set([...senderHeaders.flatMap(addresses), ...received.flatMap(envelopeSenderOf)])],
    queueIds: [...new Set(received.flatMap((hop) => /\bid ([\w-]{6,64})/.exec(hop)?.[1] ?? []))],
  }
}

const recipientHeaders = [
  'x-hmxmroriginalrecipient',
  'x-envelope-to',
  'to',
  'x-apparently-to',
  'apparently-to',
  'envelope-to',
  'x-original-to',
  'delivered-to',
  'cc',
]

const senderHeaders = ['return-path', 'x-envelope-from', 'from', 'sender']

const envelopeSenderOf = (hop: string) => findAddresses(/envelope-(?:from|sender):? ?<?\S{3,320}/i.exec(hop)?.[0] ?? '')

/** Without the angle brackets, since some systems drop them. */
function messageIdOf(value: string): string | null {
  return /<([^<>\s]{1,500})>/.exec(value)?.[1] ?? /^\s*([^<>\s]{1,500}@[^<>\s]{1,255})\s*$/.exec(value)?.[1] ?? null
}

/** The addresses that a report was sent to, from its headers. */
export function readersOf({ headers }: MailParts): string[] {
  return [...new Set(readerHeaders.flatMap((name) => headerValues(headers, name)).flatMap(findAddresses))]
}

const readerHeaders = ['to', 'delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to', 'apparently-to', 'cc']
