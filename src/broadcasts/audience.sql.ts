import { isSuppressed, mayReceive } from '../contacts/eligibility.ts'
import type { Reader, Tx } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { BroadcastId, ContactId, GroupId, OrganizationId } from '../values/ids.ts'

/** Groups, and segments as conditions on the rows of `contacts`. */
export type Selection = { groupIds: GroupId[]; segments: Sql[] }

/** Whom a broadcast is for, with groups and segments that exist. */
export type ResolvedAudience = { included: Selection; excluded: Selection }

export const isEmpty = ({ groupIds, segments }: Selection) => groupIds.length + segments.length === 0

export type AudienceOf = {
  organizationId: OrganizationId
  audience: ResolvedAudience
  /** Marketing email goes to subscribed contacts only. */
  flowKind: 'transactional' | 'marketing'
}

/** A query of the contacts of the audience, each once, as `(id)`. `union` and `except` use memory within limits. */
function contactsOf({ organizationId, audience: { included, excluded } }: AudienceOf): Sql {
  const members = (ids: GroupId[]) => sql`
    select contact_id as id from group_members
    where organization_id = ${organizationId} and group_id = any (${ids}::uuid[])`
  const matching = (condition: Sql) => sql`
    select contacts.id from contacts where contacts.organization_id = ${organizationId} and ${condition}`
  const unionOf = ({ groupIds, segments }: Selection) =>
    [...(groupIds.length > 0 ? [members(groupIds)] : []), ...segments.map(matching)].reduce(
      (joined, query) => sql`${joined} union ${query}`,
    )
  // A union of one query would keep duplicates.
  const audience = sql`select distinct id from (${unionOf(included)}) as included`
  return isEmpty(excluded) ? audience : sql`(${audience}) except (${unionOf(excluded)})`
}

/** The contacts of the audience that receive the email, as `from … where …`. */
const recipientsOf = (of: AudienceOf): Sql => sql`
  from (${contactsOf(of)}) as audience
  join contacts on contacts.organization_id = ${of.organizationId} and contacts.id = audience.id
  where ${mayReceive(of.flowKind)}`

export type AudienceCounts = {
  audience: number
  suppressed: number
  unsubscribed: number
  notSubscribed: number
  recipients: number
}

/**
 * Counts the contacts of the audience. Suppressed contacts are counted as such only. Unsubscribed ones receive transactional
 * email, and are counted in any case.
 */
export async function countAudience(db: Reader, of: AudienceOf): Promise<AudienceCounts> {
  const [row] = await db.run<AudienceCounts>(sql`
    select count(*) as audience,
      count(*) filter (where suppressed) as suppressed,
      count(*) filter (where not suppressed and subscription = 'unsubscribed') as unsubscribed,
      count(*) filter (where not suppressed and subscription = 'not_subscribed') as not_subscribed,
      count(*) filter (where ${mayReceive(of.flowKind, sql`suppressed`)}) as recipients
    from (
      select contacts.subscription, ${isSuppressed} as suppressed
      from (${contactsOf(of)}) as audience
      join contacts on contacts.organization_id = ${of.organizationId} and contacts.id = audience.id
      -- Otherwise the suppressions are searched for each of the counts.
      offset 0
    ) as contacts`)
  return row!
}

/** Returns the number of contacts in the audience, whether they receive the email or not. */
export async function countContacts(db: Reader, of: AudienceOf): Promise<number> {
  const [row] = await db.run<{ count: number }>(sql`
    select count(*)
    from (${contactsOf(of)}) as audience
    join contacts on contacts.organization_id = ${of.organizationId} and contacts.id = audience.id`)
  return row!.count
}

export type AudienceContact = {
  id: ContactId
  email: string
  firstName: string | null
  lastName: string | null
  attributes: Record<string, unknown>
}

/** Returns recipients in the order of their ids, for the check before a start. */
export async function selectAudience(
  db: Reader,
  of: AudienceOf,
  after: ContactId,
  limit: number,
): Promise<AudienceContact[]> {
  return db.run<AudienceContact>(sql`
    select contacts.id, contacts.email, contacts.first_name, contacts.last_name, contacts.attributes
    ${recipientsOf(of)} and contacts.id > ${after}
    order by contacts.id
    limit ${limit}`)
}

/** Returns the values of the attribute that names the time zone of a recipient, at most `limit` of them. */
export async function selectZones(db: Reader, of: AudienceOf, attribute: string, limit: number): Promise<string[]> {
  const rows = await db.run<{ zone: string }>(sql`
    select contacts.attributes ->> ${attribute} as zone
    ${recipientsOf(of)} and length(contacts.attributes ->> ${attribute}) between 1 and 64
    group by 1
    limit ${limit}`)
  return rows.map(({ zone }) => zone)
}

/** How the zone of each recipient is found. Values of the attribute that are not in `zones` count as `fallback`. */
export type ZoneRule = { attribute: string; zones: readonly string[]; fallback: string }

/** How the sample is divided: the end of each variant in percent of the sample, which is `samplePercent` of all. */
export type Split = { samplePercent: number; ends: readonly number[] }

/**
 * Recipients in the order of a hash of broadcast and contact, so that the split is exact, independent of the order in which
 * contacts were created, and the same whenever it is repeated. The sample has at least one recipient per variant.
 */
function splitRecipients(broadcastId: BroadcastId, of: AudienceOf, zone: Sql, { samplePercent, ends }: Split): Sql {
  return sql`
    select ${of.organizationId}::uuid, ${broadcastId}::uuid, id, zone,
      (select min(variant) from unnest(${ends}::int[]) with ordinality as part (share_end, variant)
        where place <= round(sample * share_end / 100.0)) - 1
    from (
      select id, zone, place,
        greatest(round(recipients * ${samplePercent}::int / 100.0), least(recipients, ${ends.length}::int)) as sample
      from (
        select contacts.id, ${zone} as zone, count(*) over () as recipients,
          row_number() over (order by md5(${broadcastId}::text || contacts.id::text)) as place
        ${recipientsOf(of)}
      ) as recipient
    ) as recipient
    order by id`
}

/** Writes the ledger: one row per recipient, in the order of the key. Returns how many. */
export async function insertRecipients(
  tx: Tx,
  broadcastId: BroadcastId,
  of: AudienceOf,
  rule: ZoneRule | undefined,
  split: Split | undefined,
): Promise<number> {
  const zone = rule
    ? sql`case when contacts.attributes ->> ${rule.attribute} = any (${rule.zones}::text[])
        then contacts.attributes ->> ${rule.attribute} else ${rule.fallback} end`
    : sql`null::text`
  const rows = split
    ? splitRecipients(broadcastId, of, zone, split)
    : sql`
    select ${of.organizationId}::uuid, ${broadcastId}::uuid, contacts.id, ${zone}, null::int2
    ${recipientsOf(of)}
    order by contacts.id`
  await tx.run(sql`insert into broadcast_recipients (organization_id, broadcast_id, contact_id, zone, variant) ${rows}`)
  const [row] = await tx<{ count: number }>`
    select count(*) from broadcast_recipients
    where organization_id = ${of.organizationId} and broadcast_id = ${broadcastId}`
  return row!.count
}

export async function selectExistingGroups(
  db: Reader,
  organizationId: OrganizationId,
  ids: readonly GroupId[],
): Promise<GroupId[]> {
  const rows = await db<{ id: GroupId }>`
    select id from groups where organization_id = ${organizationId} and id = any (${ids}::uuid[])`
  return rows.map(({ id }) => id)
}
