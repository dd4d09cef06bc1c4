import { isSuppressed, matchesFilter, mayReceive, type ResolvedFilter } from '../../audience/audience.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { type IdRange, inRange, lastContactId } from '../../platform/db/id-range.ts'
import { allValues, only, onlyValue } from '../../platform/db/rows.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { BroadcastId, ContactId, GroupId, OrganizationId } from '../../platform/values/ids.ts'

/** All subscribed contacts, or groups and the filters of segments. */
export type Selection = { allSubscribed: boolean; groupIds: GroupId[]; filters: ResolvedFilter[] }

/** Whom a broadcast is for, with groups and segments that exist. */
export type ResolvedAudience = { included: Selection; excluded: Selection }

export const isEmpty = ({ allSubscribed, groupIds, filters }: Selection) =>
  !allSubscribed && groupIds.length + filters.length === 0

export type AudienceQuery = {
  organizationId: OrganizationId
  audience: ResolvedAudience
  /** Marketing email goes to subscribed contacts only. */
  flowKind: 'transactional' | 'marketing'
  /** The end of periods such as "in the last 30 days". */
  now: Date
}

/**
 * Returns the last id of a slice: about `size` contacts after an id that may be in the audience. Returns undefined if no more
 * than that are left. Only groups limit which contacts are read; otherwise, every contact may be in the audience.
 */
export async function findSliceEnd(
  db: Reader,
  { organizationId, audience: { included } }: AudienceQuery,
  after: ContactId,
  size: number,
): Promise<ContactId | undefined> {
  const ids =
    included.allSubscribed || included.filters.length > 0
      ? sql`select id from contacts where organization_id = ${organizationId} and id > ${after}`
      : sql`
        select member.contact_id as id
        from unnest(${included.groupIds}::uuid[]) as wanted (group_id)
        cross join lateral (
          select contact_id from group_members
          where group_members.organization_id = ${organizationId} and group_members.group_id = wanted.group_id
            and group_members.contact_id > ${after}
          order by contact_id
          limit ${size}
        ) as member`
  const [row] = await db<{ id: ContactId }>`${ids} order by id offset ${size - 1} limit 1`
  return row?.id
}

export const sliceAfter = (after: ContactId, end: ContactId | undefined): IdRange => ({
  after,
  to: end ?? lastContactId,
})

/** A query of the contacts of the audience in a range, each once, as `(id)`. `union` and `except` use memory within limits. */
function contactsOf({ organizationId, audience: { included, excluded }, now }: AudienceQuery, range: IdRange): Sql {
  const among = inRange(range)
  const members = (ids: GroupId[]) => sql`
    select contact_id as id from group_members
    where organization_id = ${organizationId} and group_id = any (${ids}::uuid[]) and ${among(sql`contact_id`)}`
  const subscribed = sql`
    select id from contacts
    where organization_id = ${organizationId} and subscription = 'subscribed' and ${among(sql`id`)}`
  // The attributes are decompressed once for all conditions, because "offset 0" keeps the subquery separate.
  const matching = (filters: ResolvedFilter[]) => sql`
    select contacts.id
    from (
      select organization_id, id, email, email_key, first_name, last_name, attributes || '{}' as attributes,
        subscription, created_at
      from contacts where organization_id = ${organizationId} and ${among(sql`id`)}
      offset 0
    ) as contacts
    where contacts.organization_id = ${organizationId} and (${filters
      .map((filter) => matchesFilter(organizationId, filter, { now, among }))
      .reduce((joined, condition) => sql`${joined} or ${condition}`)})`
  const unionOf = ({ allSubscribed, groupIds, filters }: Selection) =>
    [
      ...(allSubscribed ? [subscribed] : []),
      ...(groupIds.length > 0 ? [members(groupIds)] : []),
      ...(filters.length > 0 ? [matching(filters)] : []),
    ].reduce((joined, query) => sql`${joined} union ${query}`)
  // A union of one query would keep duplicates.
  const audience = sql`select distinct id from (${unionOf(included)}) as included`
  return isEmpty(excluded) ? audience : sql`(${audience}) except (${unionOf(excluded)})`
}

/** The contacts of the audience in a range that receive the email, as `from … where …`. */
const recipientsOf = (audience: AudienceQuery, range: IdRange): Sql => sql`
  from (${contactsOf(audience, range)}) as audience
  join contacts on contacts.organization_id = ${audience.organizationId} and contacts.id = audience.id
  where ${mayReceive(audience.flowKind, isSuppressed(audience.organizationId))}`

export type AudienceCounts = {
  audience: number
  suppressed: number
  unsubscribed: number
  notSubscribed: number
  recipients: number
}

/**
 * Counts the contacts of the audience in a range. Suppressed contacts are counted as such only. Unsubscribed ones receive transactional
 * email, and are counted in any case.
 */
export const countAudience = (db: Reader, audience: AudienceQuery, range: IdRange) =>
  only(db<AudienceCounts>`
    select count(*) as audience,
      count(*) filter (where suppressed) as suppressed,
      count(*) filter (where not suppressed and subscription = 'unsubscribed') as unsubscribed,
      count(*) filter (where not suppressed and subscription = 'not_subscribed') as not_subscribed,
      count(*) filter (where ${mayReceive(audience.flowKind, sql`suppressed`)}) as recipients
    from (
      select contacts.subscription, ${isSuppressed(audience.organizationId)} as suppressed
      from (${contactsOf(audience, range)}) as audience
      join contacts on contacts.organization_id = ${audience.organizationId} and contacts.id = audience.id
      -- Otherwise the suppressions are searched for each of the counts.
      offset 0
    ) as contacts`)

/** Returns the number of contacts of the audience in a range, whether they receive the email or not. */
export const countContacts = (db: Reader, audience: AudienceQuery, range: IdRange) =>
  onlyValue(db<{ count: number }>`
    select count(*)
    from (${contactsOf(audience, range)}) as audience
    join contacts on contacts.organization_id = ${audience.organizationId} and contacts.id = audience.id`)

export type AudienceContact = {
  id: ContactId
  email: string
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown>
}

/** Returns the first recipients in a range, in the order of their ids, for the check before a start. */
export const selectAudience = (db: Reader, audience: AudienceQuery, range: IdRange, limit: number) =>
  db<AudienceContact>`
    select contacts.id, contacts.email, contacts.first_name, contacts.last_name, contacts.attributes
    ${recipientsOf(audience, range)}
    order by contacts.id
    limit ${limit}`

/** Counts the recipients in a range by the attribute that names their time zone, for the `limit` most frequent values. */
export const countZones = (db: Reader, audience: AudienceQuery, attribute: string, range: IdRange, limit: number) =>
  db<{ zone: string; recipients: number }>`
    select contacts.attributes ->> ${attribute} as zone, count(*) as recipients
    ${recipientsOf(audience, range)} and length(contacts.attributes ->> ${attribute}) between 1 and 64
    group by 1
    order by 2 desc
    limit ${limit}`

/** Returns the values of the attribute that names the time zone of a contact, at most `limit` of them. */
export const selectZones = (
  db: Reader,
  organizationId: OrganizationId,
  attribute: string,
  range: IdRange,
  limit: number,
) =>
  allValues(db<{ zone: string }>`
    select contacts.attributes ->> ${attribute} as zone
    from contacts
    where contacts.organization_id = ${organizationId} and ${inRange(range)(sql`contacts.id`)}
      and length(contacts.attributes ->> ${attribute}) between 1 and 64
    group by 1
    limit ${limit}`)

/** The zone of the part for each value of the attribute. Other values count as `fallback`. */
export type ZoneRule = { attribute: string; zones: ReadonlyMap<string, string>; fallback: string }

/** How the sample is divided: the end of each variant in percent of the sample, which is `samplePercent` of all. */
export type Split = { samplePercent: number; ends: readonly number[] }

const sampleOf = (recipients: Sql, { samplePercent, ends }: Split): Sql => sql`greatest(
  round(${recipients} * ${samplePercent}::int / 100.0), least(${recipients}, ${ends.length}::int))`

/** Returns the size of the sample of so many recipients. */
export const countSample = (db: Reader, recipients: number, split: Split) =>
  onlyValue(db<{ sample: number }>`select (${sampleOf(sql`${recipients}::int8`, split)})::int8 as sample`)

/**
 * Divides the recipients of a range, after `before` recipients of earlier ranges. They are in the order of a hash of broadcast
 * and contact, so that the split is independent of the order in which contacts were created. The size of the sample is exact
 * after each range, and that of the variants up to one recipient per range. The sample has at least one recipient per variant.
 */
function splitRecipients(
  broadcastId: BroadcastId,
  audience: AudienceQuery,
  range: IdRange,
  zone: Sql,
  split: Split,
  before: number,
): Sql {
  const endOf = (sample: Sql) => sql`round(${sample} * share_end / 100.0)`
  return sql`
    select ${audience.organizationId}::uuid, ${broadcastId}::uuid, id, zone,
      (select min(variant) from unnest(${split.ends}::int[]) with ordinality as part (share_end, variant)
        where place <= ${endOf(sql`sample`)} - ${endOf(sql`sample_before`)}) - 1
    from (
      select id, zone, place, ${sampleOf(sql`${before}::int8`, split)} as sample_before,
        ${sampleOf(sql`(recipients + ${before}::int8)`, split)} as sample
      from (
        select contacts.id, ${zone} as zone, count(*) over () as recipients,
          row_number() over (order by md5(${broadcastId}::text || contacts.id::text)) as place
        ${recipientsOf(audience, range)}
      ) as recipient
    ) as recipient
    order by id`
}

export type FreezeOptions = {
  zones: ZoneRule | undefined
  split: Split | undefined
  /** The recipients of earlier ranges. */
  before: number
}

/** Writes the ledger of a range: one row per recipient, in the order of the key. Returns how many. */
export async function insertRecipients(
  tx: Tx,
  broadcastId: BroadcastId,
  audience: AudienceQuery,
  range: IdRange,
  { zones, split, before }: FreezeOptions,
): Promise<number> {
  const zone = zones
    ? sql`coalesce((select zone from unnest(${[...zones.zones.keys()]}::text[], ${[...zones.zones.values()]}::text[])
        as known (value, zone) where value = contacts.attributes ->> ${zones.attribute}), ${zones.fallback}::text)`
    : sql`null::text`
  const rows = split
    ? splitRecipients(broadcastId, audience, range, zone, split, before)
    : sql`
    select ${audience.organizationId}::uuid, ${broadcastId}::uuid, contacts.id, ${zone}, null::int2
    ${recipientsOf(audience, range)}
    order by contacts.id`
  await tx`insert into broadcast_recipients (organization_id, broadcast_id, contact_id, zone, variant) ${rows}`
  const [row] = await tx<{ count: number }>`
    select count(*) from broadcast_recipients
    where organization_id = ${audience.organizationId} and broadcast_id = ${broadcastId} and ${inRange(range)(sql`contact_id`)}`
  return row!.count
}

export const selectExistingGroups = (db: Reader, organizationId: OrganizationId, ids: readonly GroupId[]) =>
  allValues(db<{ id: GroupId }>`
    select id from groups where organization_id = ${organizationId} and id = any (${ids}::uuid[])`)
