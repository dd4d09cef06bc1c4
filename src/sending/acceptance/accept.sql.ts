import type { Standing } from '../../audience/audience.ts'
import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { countRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Refusal } from '../../platform/values/errors.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { ContactId, EmailId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { SendRow } from '../attempts/send.sql.ts'
import type { AcceptedMessage } from './submission.ts'

export type FlowState = {
  organizationId: OrganizationId
  id: FlowId
  kind: 'transactional' | 'marketing'
  status: 'active' | 'paused' | 'archived' | 'draft'
  /** Null if the flow was never published. */
  versionId: FlowVersionId | null
  now: Date
}

type FlowKey = { organizationId: OrganizationId; flowId: FlowId }

/** Returns the state of each of these flows, and the time of the database. */
export const findFlowStates = (db: Reader, flows: readonly FlowKey[]) =>
  db<FlowState>`
    select flows.organization_id, flows.id, kind, status, version_id, now() as now
    from unnest(${flows.map((key) => key.organizationId)}::uuid[], ${flows.map((key) => key.flowId)}::uuid[]) as key (organization_id, id)
    join flows on flows.organization_id = key.organization_id and flows.id = key.id
    where deleted_at is null and not is_built_in`

export type Recipient = {
  organizationName: string
  contactId: ContactId | null
  email: string | null
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown> | null
  /** Set also if there is no contact yet but the address unsubscribed earlier, before its contact was erased. */
  subscription: Standing['subscription']
  suppressedBy: Standing['suppressedBy']
}

/**
 * Returns what sending needs to know about each address, whether or not it belongs to a contact, in the order of the keys.
 * No contact among them can be erased before the end of the transaction.
 */
export async function lockRecipients(tx: Tx, keys: readonly AddressKey[]): Promise<Recipient[]> {
  const [organizations, contacts, suppressions] = await Promise.all([
    findOrganizationNames(tx, [...new Set(keys.map((key) => key.organizationId))]),
    lockContacts(tx, keys),
    findSuppressions(tx, keys),
  ])
  const names = new Map(organizations.map(({ id, name }) => [id, name]))
  const contactAt = new Map(contacts.map((contact) => [contact.position, contact]))
  const reasonsAt = new Map(groupBy(suppressions, ({ position }) => position))
  return keys.map((key, index) => {
    const contact = contactAt.get(index + 1)
    const reasons = reasonsAt.get(index + 1)?.map(({ reason }) => reason) ?? noReasons
    return {
      organizationName: names.get(key.organizationId) ?? '',
      contactId: contact?.contactId ?? null,
      email: contact?.email ?? null,
      firstName: contact?.firstName ?? null,
      lastName: contact?.lastName ?? null,
      attributes: contact?.attributes ?? null,
      subscription: contact?.subscription ?? (reasons.includes('unsubscribe') ? 'unsubscribed' : null),
      suppressedBy: suppressing.find((reason) => reasons.includes(reason)) ?? null,
    }
  })
}

const noReasons: readonly string[] = []
const suppressing = ['complaint', 'hard_bounce', 'manual'] as const

type AddressKey = { organizationId: OrganizationId; emailKey: string }
const addressKey = ({ organizationId, emailKey }: AddressKey) => `${organizationId} ${emailKey}`

const findOrganizationNames = (db: Reader, ids: OrganizationId[]) =>
  db<{ id: OrganizationId; name: string }>`select id, name from organizations where id = any (${ids}::uuid[])`

/** The position of the address among those that were asked for, from 1. */
type AtPosition = { position: number }

type ContactOfAddress = AtPosition & {
  contactId: ContactId
  email: string
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown>
  subscription: 'subscribed' | 'not_subscribed' | 'unsubscribed'
}

/** In key order, so that two transactions cannot deadlock. */
const lockContacts = (tx: Tx, keys: readonly AddressKey[]) => tx<ContactOfAddress>`
  select position, id as contact_id, email, first_name, last_name, attributes, subscription
  from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.emailKey)}::text[])
    with ordinality as key (organization_id, email_key, position)
  join contacts on contacts.organization_id = key.organization_id and contacts.email_key = key.email_key
  order by contacts.organization_id, contacts.id
  for key share of contacts`

const findSuppressions = (db: Reader, keys: readonly AddressKey[]) => db<AtPosition & { reason: string }>`
  select position, reason
  from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.emailKey)}::text[])
    with ordinality as key (organization_id, email_key, position)
  join suppressions on suppressions.organization_id = key.organization_id and suppressions.email_key = key.email_key`

export type NewMessage = {
  organizationId: OrganizationId
  id: MessageId
  flowId: FlowId
  versionId: FlowVersionId
  isTest: boolean
  contactId: ContactId
  /** Set if the contact has to be created. */
  newContact: Pick<NewContact, 'emailKey' | 'subscription'> | null
  email: string
  subject: string
  /** JSON text. */
  context: string
  /** Null if it is to be sent at once. */
  sendAt: Date | null
  /** JSON text of a `RecipientSnapshot`; null if it is empty. */
  recipient: string | null
  status: 'queued' | 'suppressed'
  reason: string | null
  lane: string
  /** What does not come from the flow. */
  contentId: EmailId | null
  /** JSON text. */
  tags: string | null
}

export type NewContact = AddressKey & {
  contactId: ContactId
  email: string
  subscription: 'not_subscribed' | 'unsubscribed'
}

/** Creates contacts and returns the ids of those whose address no other contact has. */
export async function insertContacts(tx: Tx, contacts: readonly NewContact[]): Promise<Set<ContactId>> {
  // In key order, so that two transactions that create the same contacts cannot deadlock.
  const sorted = contacts.toSorted((a, b) => (addressKey(a) < addressKey(b) ? -1 : 1))
  const rows = await tx<{ id: ContactId }>`
    insert into contacts (organization_id, id, email, email_key, subscription)
    select * from unnest(
      ${sorted.map((contact) => contact.organizationId)}::uuid[],
      ${sorted.map((contact) => contact.contactId)}::uuid[],
      ${sorted.map((contact) => contact.email)}::text[],
      ${sorted.map((contact) => contact.emailKey)}::text[],
      ${sorted.map((contact) => contact.subscription)}::text[]
    )
    on conflict (organization_id, email_key) do nothing
    returning id`
  return new Set(rows.map(({ id }) => id))
}

export type NewKey = {
  organizationId: OrganizationId
  key: string
  requestHash: string
  /** The first message that is accepted with the key. */
  messageId: MessageId
  /** JSON text of a `StoredAnswer`. */
  answer: string
}

/** Reserves idempotency keys for 24 hours and returns the ids of the messages whose key was free. */
export async function insertKeys(tx: Tx, keys: readonly NewKey[]): Promise<Set<MessageId>> {
  if (keys.length === 0) return new Set()
  const nameOf = ({ organizationId, key }: NewKey) => `${organizationId} ${key}`
  const sorted = keys.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const rows = await tx<{ messageId: MessageId }>`
    insert into idempotency_keys (organization_id, key, request_hash, message_id, answer, created_at)
    select organization_id, key, decode(request_hash, 'hex'), message_id, answer::jsonb, now()
    from unnest(
      ${sorted.map((key) => key.organizationId)}::uuid[],
      ${sorted.map(({ key }) => key)}::text[],
      ${sorted.map((key) => key.requestHash)}::text[],
      ${sorted.map((key) => key.messageId)}::uuid[],
      ${sorted.map((key) => key.answer)}::text[]
    ) as used (organization_id, key, request_hash, message_id, answer)
    on conflict (organization_id, key) do update
    set request_hash = excluded.request_hash, message_id = excluded.message_id, answer = excluded.answer,
      created_at = excluded.created_at
    where excluded.created_at - idempotency_keys.created_at > interval '24 hours'
    returning message_id`
  return new Set(rows.map(({ messageId }) => messageId))
}

/** Makes keys free again that this transaction has reserved. */
export const releaseKeys = (tx: Tx, organizationId: OrganizationId, keys: readonly NewKey[]) =>
  tx`
    delete from idempotency_keys
    where organization_id = ${organizationId} and key = any (${keys.map(({ key }) => key)}::text[])`

/** The values of a message as they are stored. */
export type StoredValues = Pick<SendRow, 'id' | 'context' | 'recipient' | 'queuedAt'>

/** Returns the stored values after the commit if they are asked for, otherwise nothing. */
export const insertMessages = (tx: Tx, messages: readonly NewMessage[], isReturned: boolean) =>
  tx.send<StoredValues>`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient,
      status, reason, is_test, send_at, content_id, tags)
    select organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context::jsonb, recipient::jsonb,
      status, reason, is_test, send_at, content_id, tags::jsonb
    from unnest(
      ${messages.map((message) => message.organizationId)}::uuid[],
      ${messages.map((message) => message.id)}::uuid[],
      ${messages.map((message) => message.flowId)}::uuid[],
      ${messages.map((message) => message.versionId)}::uuid[],
      ${messages.map((message) => message.contactId)}::uuid[],
      ${messages.map((message) => message.email)}::text[],
      ${messages.map((message) => message.subject)}::text[],
      ${messages.map((message) => message.context)}::text[],
      ${messages.map((message) => message.recipient)}::text[],
      ${messages.map((message) => message.status)}::text[],
      ${messages.map((message) => message.reason)}::text[],
      ${messages.map((message) => message.isTest)}::bool[],
      ${messages.map((message) => message.sendAt)}::timestamptz[],
      ${messages.map((message) => message.contentId)}::uuid[],
      ${messages.map((message) => message.tags)}::text[]
    ) as message (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient, status,
      reason, is_test, send_at, content_id, tags)
    ${isReturned ? sql`returning id, context, recipient, queued_at` : sql``}`

/**
 * The results of a submission as they are stored with its idempotency key. Without addresses, so that a contact can be
 * erased: these are read from the messages, or from the repeated request.
 */
export type StoredAnswer = (
  | { id: EmailId | null; messages: StoredMessage[] }
  | { error: Pick<Refusal, 'type' | 'message' | 'fields'> }
)[]
export type StoredMessage = Pick<AcceptedMessage, 'id' | 'status' | 'reason' | 'warnings'> & {
  contact_created: boolean
}

export type UsedKey = {
  organizationId: OrganizationId
  key: string
  requestHash: string
  messageId: MessageId
  /** A `StoredAnswer`, or what another release stored. */
  answer: unknown
}

/** Returns the keys used within the last 24 hours, with the results of their submission. */
export const findUsedKeys = (db: Reader, keys: readonly { organizationId: OrganizationId; key: string }[]) =>
  db<UsedKey>`
    select used.organization_id, used.key, encode(used.request_hash, 'hex') as request_hash, used.message_id, used.answer
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.key)}::text[]) as key (organization_id, key)
    join idempotency_keys used on used.organization_id = key.organization_id and used.key = key.key
    where used.created_at >= now() - interval '24 hours'`

export type WrittenMessage = {
  id: MessageId
  contactId: ContactId
  /** Empty if the contact was erased. */
  email: string
  queuedAt: Date
  sendAt: Date | null
}

/** Returns what the stored results of a submission do not contain. */
export const findWrittenMessages = (db: Reader, keys: readonly { organizationId: OrganizationId; id: MessageId }[]) =>
  db<WrittenMessage>`
    select messages.id, contact_id, email, queued_at, send_at
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as key (organization_id, id)
    join messages on messages.organization_id = key.organization_id and messages.id = key.id`

/** Whether all of these keys were used within the last 24 hours. */
export const areKeysUsed = (db: Reader, organizationId: OrganizationId, keys: readonly string[]) =>
  onlyValue(db<{ areUsed: boolean }>`
    select count(*) = cardinality(${keys}::text[]) as are_used from idempotency_keys
    where organization_id = ${organizationId} and key = any (${keys}::text[])
      and created_at >= now() - interval '24 hours'`)

/** Deletes up to `limit` expired keys and returns how many were deleted. */
export const deleteOldKeys = (db: Writer, limit: number) =>
  countRows(db`
    delete from idempotency_keys
    using (select organization_id, key from idempotency_keys where created_at < now() - interval '25 hours' limit ${limit}) old
    where idempotency_keys.organization_id = old.organization_id and idempotency_keys.key = old.key
    returning 1`)
