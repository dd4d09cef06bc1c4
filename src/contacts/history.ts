import type { Tx } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { EventSource } from '../values/event-types.ts'
import {
  type ApiKeyId,
  type ContactId,
  type EventId,
  type GroupId,
  type ImportId,
  newId,
  type OrganizationId,
  type Prefix,
  toText,
  type UserId,
} from '../values/ids.ts'

/**
 * Who changed a contact. Names of users, keys and imports are looked up when the history is read. `ip` is stored only if
 * the organization stores addresses.
 */
export type Actor =
  | { type: 'user'; id: UserId; ip?: string }
  | { type: 'api_key'; id: ApiKeyId; ip?: string }
  | { type: 'import'; id: ImportId; ip?: never }
  | { type: 'recipient' | 'system'; id: null; ip?: string }

export const actorTypes = ['user', 'api_key', 'import', 'recipient', 'system'] as const
export type ActorType = Actor['type']

/** `created` and `group_added` are also derived from the rows of the contact and its memberships, see `selectTimeline`. */
export const changes = [
  'created',
  'edited',
  'subscribed',
  'unsubscribed',
  'suppressed',
  'unsuppressed',
  'group_added',
  'group_removed',
] as const
export type Change = (typeof changes)[number]

/** Returns the actor whose type and id were stored. Throws if a user, a key or an import has no id, which is a bug. */
export function storedActor(type: ActorType, id: string | null): Actor {
  if (type === 'recipient' || type === 'system') return { type, id: null }
  if (id === null) throw new TypeError(`An actor of the type ${type} has no id`)
  switch (type) {
    case 'user':
      return { type, id: id as UserId }
    case 'api_key':
      return { type, id: id as ApiKeyId }
    case 'import':
      return { type, id: id as ImportId }
  }
}

/** Prefixes of the ids of actors that have one. */
const actorPrefixes: Partial<Record<ActorType, Prefix>> = { user: 'usr', api_key: 'key', import: 'imp' }

/** The id of an actor as text; null if it has none. */
export function actorIdText(type: ActorType | null, id: string | null): string | null {
  const prefix = type && actorPrefixes[type]
  return prefix && id ? toText(prefix, id as never) : null
}

export const sourceOf = ({ type, id }: Actor): EventSource => ({ type, id: actorIdText(type, id) })

/** How many entries are kept per contact. */
const entriesMax = 1_000

export type HistoryEntry = {
  type: Change
  actor: Actor
  /** Names of changed fields, reasons of suppressions or the id of a group; never personal data. */
  details?: { fields?: string[]; reasons?: string[]; group_id?: GroupId }
  /** The event that records the same change. The timeline shows only the event, with this actor. */
  eventId?: EventId
  /** The present if omitted. */
  at?: Date
}

/** The address of the actor, if the organization stores addresses. */
const keptIp = (organizationId: OrganizationId, { ip }: Actor): Sql =>
  sql`(select ${ip ?? null}::text from organizations where id = ${organizationId} and keep_addresses)`

/**
 * Adds one entry to the history of one contact, and drops its oldest entries beyond the limit. An event gets one entry,
 * even if it is recorded again.
 */
export function insertHistory(
  tx: Tx,
  organizationId: OrganizationId,
  contactId: ContactId,
  { type, actor, details = {}, eventId, at }: HistoryEntry,
): void {
  tx.send`
    insert into contact_history (organization_id, contact_id, at, id, type, actor_type, actor_id, ip, details)
    select ${organizationId}::uuid, ${contactId}::uuid, coalesce(${at ?? null}::timestamptz, now()),
      ${eventId ?? newId('evt')}::uuid, ${type}::text, ${actor.type}::text, ${actor.id}::uuid,
      case when keep_addresses then ${actor.ip ?? null}::text end,
      ${JSON.stringify(eventId ? { ...details, is_event: true } : details)}::jsonb
    from organizations
    where id = ${organizationId}
    on conflict do nothing`
  tx.send`
    delete from contact_history
    where organization_id = ${organizationId} and contact_id = ${contactId} and (at, id) in (
      select at, id from contact_history
      where organization_id = ${organizationId} and contact_id = ${contactId}
      order by at desc, id desc
      offset ${entriesMax})`
}

/** Like `insertHistory`, for the contact with this address, if there is one. */
export async function insertHistoryByEmail(
  tx: Tx,
  organizationId: OrganizationId,
  emailKey: string,
  entry: HistoryEntry,
): Promise<void> {
  const [contact] = await tx<{ id: ContactId }>`
    select id from contacts where organization_id = ${organizationId} and email_key = ${emailKey}`
  if (contact) insertHistory(tx, organizationId, contact.id, entry)
}

/** Like `insertHistory`, for all contacts with these addresses, without the limit per contact. */
export function insertHistoryByEmails(
  tx: Tx,
  organizationId: OrganizationId,
  emailKeys: readonly string[],
  { type, actor, details }: HistoryEntry,
): void {
  const source = sql`contacts where organization_id = ${organizationId} and email_key = any (${emailKeys}::text[])`
  tx.send`${recordChange(organizationId, type, actor, source, details)}`
}

/** An insert of one entry per row of `source (id)`, for statements that change many contacts. */
export const recordChange = (
  organizationId: OrganizationId,
  type: Change,
  actor: Actor,
  source: Sql,
  details: HistoryEntry['details'] = {},
): Sql => sql`
  insert into contact_history (organization_id, contact_id, id, type, actor_type, actor_id, ip, details)
  select ${organizationId}, id, gen_random_uuid(), ${type}, ${actor.type}, ${actor.id}::uuid, ${keptIp(organizationId, actor)},
    ${JSON.stringify(details)}::jsonb
  from ${source}`

export type HistoryRow = {
  contactId: ContactId
  type: Change
  actor: { type: Actor['type']; id: string | null }
  details?: object
  /** Now if omitted. */
  at?: Date
  eventId?: EventId
}

/** Adds an entry to the history of each of many contacts. */
export async function insertHistoryRows(tx: Tx, organizationId: OrganizationId, rows: HistoryRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into contact_history (organization_id, contact_id, at, id, type, actor_type, actor_id, details)
    select ${organizationId}, contact_id, coalesce(at, now()), id, type, actor_type, actor_id, details::jsonb
    from unnest(
      ${rows.map(({ contactId }) => contactId)}::uuid[],
      ${rows.map(({ at }) => at ?? null)}::timestamptz[],
      ${rows.map(({ eventId }) => eventId ?? newId('evt'))}::uuid[],
      ${rows.map(({ type }) => type)}::text[],
      ${rows.map(({ actor }) => actor.type)}::text[],
      ${rows.map(({ actor }) => actor.id)}::uuid[],
      ${rows.map(({ details, eventId }) => JSON.stringify({ ...details, ...(eventId && { is_event: true }) }))}::text[]
    ) as entry (contact_id, at, id, type, actor_type, actor_id, details)`
}
