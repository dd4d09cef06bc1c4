import { priorUnsubscription } from '../contacts/subscription.ts'
import type { Db, Reader, Writer } from '../db/db.ts'
import { list, sql } from '../db/sql.ts'
import { enqueueNewJobs } from '../queue/queue.ts'
import type { ContactId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../values/ids.ts'

export type FlowState = {
  organizationId: OrganizationId
  id: FlowId
  kind: 'transactional' | 'marketing'
  status: 'active' | 'paused' | 'archived'
  versionId: FlowVersionId
}

export async function findFlowStates(
  db: Reader,
  keys: { organizationId: OrganizationId; flowId: FlowId }[],
): Promise<FlowState[]> {
  return db<FlowState>`
    select organization_id, id, kind, status, version_id
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.flowId)}::uuid[]) as key (organization_id, id)
    join flows using (organization_id, id)
    where deleted_at is null`
}

export type Recipient = {
  organizationName: string
  contactId: ContactId | null
  email: string | null
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown> | null
  /** Set also if there is no contact yet but the address unsubscribed earlier, before its contact was erased. */
  subscription: 'subscribed' | 'not_subscribed' | 'unsubscribed' | null
  suppressedBy: 'hard_bounce' | 'complaint' | 'manual' | null
}

/**
 * Returns what sending needs to know about each address, whether or not it belongs to a contact, in the order of the
 * keys.
 */
export async function findRecipients(
  db: Reader,
  keys: { organizationId: OrganizationId; emailKey: string }[],
): Promise<Recipient[]> {
  const rows = await db<Recipient & { position: number }>`
    select key.position, organizations.name as organization_name,
      contacts.id as contact_id, contacts.email, contacts.first_name, contacts.last_name, contacts.attributes,
      coalesce(contacts.subscription, ${priorUnsubscription(sql`key.organization_id`, sql`key.email_key`)}) as subscription,
      (select reason from suppressions
        where suppressions.organization_id = key.organization_id and suppressions.email_key = key.email_key
          and reason <> 'unsubscribe'
        order by reason limit 1) as suppressed_by
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.emailKey)}::text[])
      with ordinality as key (organization_id, email_key, position)
    join organizations on organizations.id = key.organization_id
    left join contacts on contacts.organization_id = key.organization_id and contacts.email_key = key.email_key`
  const inOrder: Recipient[] = []
  for (const row of rows) inOrder[row.position - 1] = row
  return inOrder
}

export type NewMessage = {
  organizationId: OrganizationId
  id: MessageId
  flowId: FlowId
  versionId: FlowVersionId
  /** A test email may be sent through a paused flow. */
  isTest: boolean
  contactId: ContactId
  /** Set if the contact has to be created. */
  newContactKey: string | null
  email: string
  subject: string
  /** JSON text. */
  context: string
  /** JSON text of a `RecipientSnapshot`. */
  recipient: string
  status: 'queued' | 'suppressed'
  reason: string | null
  lane: string
  idempotencyKey: string | null
  requestHash: string | null
  /** JSON text, stored with the idempotency key. */
  answer: string | null
}

export type Written = {
  /** The messages that were written; undefined if all were. */
  ids: ReadonlySet<MessageId> | undefined
  queuedAt: Date
}

/**
 * Writes the contacts, messages, jobs and idempotency keys of a batch in one statement, and returns which messages were
 * written. A message is skipped if, since the lookup, its flow was changed, its contact was created or its idempotency
 * key was used by another request. Nothing is written for a skipped message except possibly its contact.
 */
export async function insertMessages(db: Writer, messages: NewMessage[]): Promise<Written> {
  // Most batches have neither, and a CTE costs time even if it has no rows to process.
  const bringsContacts = messages.some(({ newContactKey }) => newContactKey !== null)
  const bringsKeys = messages.some(({ idempotencyKey }) => idempotencyKey !== null)
  const [row] = await db<{ ids: MessageId[] | null; queuedAt: Date }>`
    with item as materialized (
      select * from unnest(
        ${messages.map((m) => m.organizationId)}::uuid[],
        ${messages.map((m) => m.id)}::uuid[],
        ${messages.map((m) => m.flowId)}::uuid[],
        ${messages.map((m) => m.versionId)}::uuid[],
        ${messages.map((m) => m.isTest)}::bool[],
        ${messages.map((m) => m.contactId)}::uuid[],
        ${messages.map((m) => m.newContactKey)}::text[],
        ${messages.map((m) => m.email)}::text[],
        ${messages.map((m) => m.subject)}::text[],
        ${messages.map((m) => m.context)}::text[],
        ${messages.map((m) => m.recipient)}::text[],
        ${messages.map((m) => m.status)}::text[],
        ${messages.map((m) => m.reason)}::text[],
        ${messages.map((m) => m.lane)}::text[],
        ${messages.map((m) => m.idempotencyKey)}::text[],
        ${messages.map((m) => m.requestHash)}::text[],
        ${messages.map((m) => m.answer)}::text[]
      ) as item (organization_id, id, flow_id, version_id, is_test, contact_id, new_contact_key, email, subject, context,
        recipient, status, reason, lane, idempotency_key, request_hash, answer)
    ),
    live as materialized (
      select item.* from item
      join flows on flows.organization_id = item.organization_id and flows.id = item.flow_id
        and flows.version_id = item.version_id and (item.is_test or flows.status = 'active') and flows.deleted_at is null
    ),
    ${list([
      bringsContacts ? newContacts : noNewContacts,
      bringsKeys ? heldKeys : noHeldKeys,
      bringsContacts || bringsKeys ? chosenByBoth : chosenAll,
    ])},
    written as (
      insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context,
        recipient, status, reason, is_test)
      select organization_id, id, flow_id, version_id, contact_id, email, subject, context::jsonb,
        recipient::jsonb, status, reason, is_test
      from chosen
      returning id
    ),
    new_jobs as (
      select organization_id, 'message.send'::text as kind, lane, now() as due_at, id, null::jsonb as payload
      from chosen
      where status = 'queued'
    ), ${enqueueNewJobs}
    -- The default of messages.queued_at, and therefore the same for all rows.
    select now() as queued_at, case when count(*) < ${messages.length} then coalesce(array_agg(id), '{}') end as ids
    from written`
  return { ids: row!.ids ? new Set(row!.ids) : undefined, queuedAt: row!.queuedAt }
}

// An address that unsubscribed before its contact was erased is created as unsubscribed.
const newContacts = sql`
  new_contacts as (
    insert into contacts (organization_id, id, email, email_key, subscription)
    select distinct on (organization_id, new_contact_key) organization_id, contact_id, email, new_contact_key,
      coalesce(${priorUnsubscription(sql`live.organization_id`, sql`live.new_contact_key`)}, 'not_subscribed')
    from live
    where new_contact_key is not null
    order by organization_id, new_contact_key
    on conflict (organization_id, email_key) do nothing
    returning organization_id, id
  )`
const noNewContacts = sql`new_contacts as (select organization_id, id from item where false)`

const heldKeys = sql`
  held_keys as (
    insert into idempotency_keys (organization_id, key, request_hash, message_id, answer)
    select live.organization_id, idempotency_key, decode(request_hash, 'hex'), live.id, answer::jsonb
    from live
    left join new_contacts on new_contacts.organization_id = live.organization_id and new_contacts.id = live.contact_id
    where idempotency_key is not null and (new_contact_key is null or new_contacts.id is not null)
    order by live.organization_id, idempotency_key
    on conflict (organization_id, key) do update
      set request_hash = excluded.request_hash, message_id = excluded.message_id, answer = excluded.answer, created_at = now()
      where idempotency_keys.created_at < now() - interval '24 hours'
    returning organization_id, message_id
  )`
const noHeldKeys = sql`held_keys as (select organization_id, id as message_id from item where false)`

// The messages to write. Jobs are built from this CTE, not from the rows that the insert returns: a join of two CTEs
// becomes a nested loop, since the planner has no row estimates for them.
const chosenByBoth = sql`
  chosen as materialized (
    select live.*
    from live
    left join new_contacts on new_contacts.organization_id = live.organization_id and new_contacts.id = live.contact_id
    left join held_keys on held_keys.organization_id = live.organization_id and held_keys.message_id = live.id
    where (live.new_contact_key is null or new_contacts.id is not null)
      and (live.idempotency_key is null or held_keys.message_id is not null)
  )`
const chosenAll = sql`chosen as (select * from live)`

export type HeldKey = {
  organizationId: OrganizationId
  key: string
  requestHash: string
  messageId: MessageId
  flowId: FlowId
  contactId: ContactId
  email: string
  queuedAt: Date
  answer: StoredAnswer
}
export type StoredAnswer = {
  contact_created: boolean
  status: 'queued' | 'suppressed'
  reason: string | null
  warnings: string[]
}

/** Returns the keys used within the last 24 hours, with the response that was sent. */
export async function findHeldKeys(
  db: Db,
  keys: { organizationId: OrganizationId; key: string }[],
): Promise<HeldKey[]> {
  return db<HeldKey>`
    select held.organization_id, held.key, encode(held.request_hash, 'hex') as request_hash, held.message_id, held.answer,
      messages.flow_id, messages.contact_id, messages.email, messages.queued_at
    from unnest(${keys.map((key) => key.organizationId)}::uuid[], ${keys.map((key) => key.key)}::text[]) as key (organization_id, key)
    join idempotency_keys held using (organization_id, key)
    join messages on messages.organization_id = held.organization_id and messages.id = held.message_id
    where held.created_at >= now() - interval '24 hours'`
}

/** Deletes up to `limit` expired keys and returns how many were deleted. */
export async function deleteOldKeys(db: Writer, limit: number): Promise<number> {
  const rows = await db`
    delete from idempotency_keys
    using (select organization_id, key from idempotency_keys where created_at < now() - interval '25 hours' limit ${limit}) old
    where idempotency_keys.organization_id = old.organization_id and idempotency_keys.key = old.key
    returning 1`
  return rows.length
}
