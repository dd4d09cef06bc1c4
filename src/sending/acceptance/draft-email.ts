import { ineligibleReason } from '../../audience/audience.ts'
import type { ReadyVersion } from '../../content/content.ts'
import { type ContactId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { contentToHandOver, type NewContent } from '../attachments/contents.ts'
import type { NewMessage, Recipient } from './accept.sql.ts'
import { laneOf } from './draft.ts'
import type { AcceptedMessage, DraftedEmail, EmailRequest, Item } from './email-request.ts'
import type { Allowance } from './new-organization-quota.ts'
import { keyReused } from './replay.ts'
import type { DraftToWrite } from './write-messages.ts'

export type LookUps = {
  personOf: ReadonlyMap<string, Recipient>
  newContacts: Map<string, ContactId>
  versions: ReadonlyMap<string, ReadyVersion>
  allowance: Allowance | undefined
  /** Messages by the key of their recipient. */
  earlier: ReadonlyMap<string, { message: AcceptedMessage; requestHash: string }>
}

export function draftEmail(item: Item, request: EmailRequest, lookUps: LookUps): DraftedEmail {
  const { organizationId } = item
  const flow = item.flows.get(request.kind)!
  const id = newId('eml')
  const { sendAt } = request
  const content = withMessageId(request)
  const toSend = {
    version: lookUps.versions.get(flow.versionId)!,
    flowKind: flow.kind,
    content: contentToHandOver(id, organizationId, content),
  }
  const tags = request.tags.length > 0 ? JSON.stringify(request.tags) : null
  const messages: AcceptedMessage[] = []
  const drafts = request.recipients.flatMap((address, position): DraftToWrite[] => {
    const recipientKey = request.recipientKeys?.[position] ?? null
    const known = lookUps.earlier.get(`${organizationId} ${recipientKey}`)
    if (known) {
      if (known.requestHash !== request.contentHash) throw keyReused()
      messages.push(known.message)
      return []
    }
    const key = personKey({ organizationId, emailKey: address.emailKey })
    const person = lookUps.personOf.get(key)!
    const contactId = person.contactId ?? lookUps.newContacts.get(key) ?? newId('con')
    lookUps.newContacts.set(key, contactId)
    lookUps.allowance?.use(organizationId)
    const reason = ineligibleReason(flow, person)
    const status = reason === null ? 'queued' : 'suppressed'
    const messageId = newId('msg')
    const message: NewMessage = {
      organizationId,
      id: messageId,
      flowId: flow.id,
      versionId: flow.versionId,
      isTest: false,
      contactId,
      newContact: person.contactId
        ? null
        : {
            emailKey: address.emailKey,
            subscription: person.subscription === 'unsubscribed' ? 'unsubscribed' : 'not_subscribed',
          },
      // As it was given, which the other recipients see.
      email: address.email,
      subject: request.subject,
      context: '{}',
      recipient: null,
      status,
      reason,
      lane: laneOf(messageId),
      sendAt,
      idempotencyKey: recipientKey,
      requestHash: recipientKey === null ? null : request.contentHash!,
      answer: recipientKey === null ? null : JSON.stringify({ contact_created: false, status, reason, warnings: [] }),
      contentId: id,
      tags,
    }
    messages.push({
      id: messageId,
      email: address.email,
      status: sendAt && status === 'queued' ? 'scheduled' : status,
      reason,
    })
    return [{ message, toSend: { ...toSend, person } }]
  })
  return { id, drafts, messages, content: { organizationId, id, content, sendAt } }
}

/** A raw email has a Message-ID of its own. */
function withMessageId({ content, recipients }: EmailRequest): NewContent {
  const { details } = content
  return { ...content, details: { ...details, sharesMessageId: details.kind === 'email' && recipients.length > 1 } }
}

export const personKey = ({ organizationId, emailKey }: { organizationId: OrganizationId; emailKey: string }) =>
  `${organizationId} ${emailKey}`
