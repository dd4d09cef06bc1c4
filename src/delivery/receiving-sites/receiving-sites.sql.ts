import type { Reader, Writer } from '../../platform/db/db.ts'
import { first, hasRows } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** The sites of domains that were looked up within a day. */
export const selectDomainSites = (db: Reader, names: readonly string[]) =>
  db<{ name: string; site: string }>`
    select name, site from receiving_domains
    where name = any (${names}::text[]) and checked_at > now() - interval '1 day'`

export const saveDomainSites = (db: Writer, found: readonly { name: string; site: string }[]) =>
  db`
    insert into receiving_domains (name, site)
    select name, site
    from unnest(${found.map(({ name }) => name)}::text[], ${found.map(({ site }) => site)}::text[]) as found (name, site)
    order by name
    on conflict (name) do update set site = excluded.site, checked_at = excluded.checked_at`

export const deleteOldDomainSites = (db: Writer, days: number) =>
  db`delete from receiving_domains where checked_at < now() - ${days} * interval '1 day'`

export type SiteSettings = {
  organizationId: OrganizationId
  site: string
  /** If false, the shipped limits apply. */
  hasLimits: boolean
  messagesPerSecond: number | null
  messagesPerDay: number | null
  /** Until when the site is slowed down, and why. Null if it is not. */
  slowedUntil: Date | null
  slowedReason: string | null
}

const columns = sql`organization_id, site, has_limits, messages_per_second, messages_per_day,
  case when slowed_until > now() then slowed_until end as slowed_until,
  case when slowed_until > now() then slowed_reason end as slowed_reason`

export const selectSites = (db: Reader, organizationId: OrganizationId) =>
  db<SiteSettings>`
    select ${columns} from receiving_sites where organization_id = ${organizationId} order by site limit 1000`

export type SiteLimits = Pick<SiteSettings, 'messagesPerSecond' | 'messagesPerDay'>

/** Returns false if the organization has set the limits of too many sites. */
export const upsertLimits = (
  db: Writer,
  organizationId: OrganizationId,
  site: string,
  { messagesPerSecond, messagesPerDay }: SiteLimits,
  sitesMax: number,
) =>
  hasRows(db`
    insert into receiving_sites (organization_id, site, has_limits, messages_per_second, messages_per_day)
    select ${organizationId}::uuid, ${site}, true, ${messagesPerSecond}::float8, ${messagesPerDay}::int
    where (select count(*) from receiving_sites where organization_id = ${organizationId} and site <> ${site}) < ${sitesMax}
    on conflict (organization_id, site) do update
    set has_limits = true, messages_per_second = excluded.messages_per_second, messages_per_day = excluded.messages_per_day
    returning site`)

export const resetSite = (db: Writer, organizationId: OrganizationId, site: string) =>
  db`delete from receiving_sites where organization_id = ${organizationId} and site = ${site}`

/** `organizationId` is slowed down, and `sentBy` has sent the email. */
export type Deferral = { organizationId: OrganizationId; sentBy: OrganizationId; site: string; reason: string }

/**
 * The second deferral within an hour slows the site down. Those of another organization, whose mail server it uses, need a second
 * organization, so that none can slow down the others on its own.
 */
export async function recordDeferral(
  db: Writer,
  { organizationId, sentBy, site, reason }: Deferral,
  slowMinutes: number,
): Promise<void> {
  await db`
    update receiving_sites set slowed_until = now() + ${slowMinutes} * interval '1 minute', slowed_reason = ${reason}
    where organization_id = ${organizationId} and site = ${site} and deferred_at > now() - interval '1 hour'
      and (organization_id = ${sentBy} or deferred_by is distinct from ${sentBy})`
  await db`
    insert into receiving_sites (organization_id, site, deferred_at, deferred_by)
    values (${organizationId}, ${site}, now(), ${sentBy})
    on conflict (organization_id, site) do update
    set deferred_at = excluded.deferred_at, deferred_by = excluded.deferred_by`
}

/** The organization of the operator, whose settings are the defaults. */
export const findOperator = (db: Reader) =>
  first(db<{ id: OrganizationId }>`select id from organizations where is_operator and deleted_at is null`)
