import { findAddresses, parseAddressField, recipientsMax } from './addresses.ts'
import { readFieldGroups } from './fields.ts'
import { type Header, headerValue } from './mail-parts.ts'

type Action = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** The fields of a delivery-status part (RFC 3464) about one recipient. */
export type RecipientStatus = {
  recipient: string | null
  action: Action
  status: string
  diagnostic: string
}

/** What an email provider reports as JSON, by webhook or by mail. */
export type ProviderEvent = {
  recipients: (RecipientStatus & { isPermanent: boolean })[]
  complaints: string[]
  isComplaint: boolean
  feedbackType: string
  messageId: string | null
}

export type DeliveryStatus = {
  recipients: RecipientStatus[]
  queueIds: string[]
  envelopeId: string | null
  /** The envelope sender as relays note it beside their queue id. */
  sender: string | null
}

export function readDeliveryStatus(text: string): DeliveryStatus {
  const report: DeliveryStatus = { recipients: [], queueIds: [], envelopeId: null, sender: null }
  for (const group of readFieldGroups(text)) {
    for (const field of group) readMessageField(report, field)
    if (group.some((field) => recipientFields.has(field.name)) && report.recipients.length < recipientsMax) {
      report.recipients.push(readRecipient(group))
    }
  }
  return report
}

const recipientFields = new Set(['final-recipient', 'original-recipient', 'x-actual-recipient', 'action'])

function readMessageField(report: DeliveryStatus, { name, value }: Header): void {
  if (name === 'original-envelope-id') report.envelopeId = value
  else if (/^x-.{0,40}queue-id$/.test(name)) report.queueIds.push(value)
  else if (/^x-.{0,40}-sender$/.test(name)) report.sender = parseAddressField(value)
}

function readRecipient(group: Header[]): RecipientStatus {
  const field = (name: string) => headerValue(group, name)
  const action = field('action').toLowerCase()
  return {
    recipient:
      parseAddressField(field('final-recipient')) ??
      parseAddressField(field('original-recipient')) ??
      parseAddressField(field('x-actual-recipient')) ??
      findAddresses(field('diagnostic-code'))[0] ??
      null,
    action: actions.find((known) => action.startsWith(known)) ?? defaultAction(field('status')),
    status: field('status'),
    diagnostic: field('diagnostic-code').replace(/^[\w-]{1,40}\s*;\s*/, ''),
  }
}

const actions: Action[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']

/** Without an action, a status of the class 2 means success. */
const defaultAction = (status: string): Action => (status.trim().startsWith('2.') ? 'delivered' : 'failed')
