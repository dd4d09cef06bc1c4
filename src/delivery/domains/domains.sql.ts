import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { DomainId, OrganizationId } from '../../platform/values/ids.ts'
import type { Domain } from './domain.ts'

const columns = sql`organization_id, id, name, status, ownership_token, selector, dkim_public_key, next_selector,
  next_dkim_public_key, tracking_label, return_path_label, uses_tracking_host, uses_return_path, checks, checked_at, verified_at, failing_since, created_at,
  warm_up_plan`

export type NewKey = { selector: string; privateKey: Buffer; publicKey: string }
export type Proof = { ownershipToken: string; key: NewKey }

/** Returns undefined if the organization has this domain. */
export const insertDomain = (
  db: Writer,
  domain: Pick<Domain, 'organizationId' | 'id' | 'name' | 'trackingLabel' | 'returnPathLabel'> & Proof,
) =>
  first(db<Domain>`
    insert into domains (organization_id, id, name, ownership_token, selector, dkim_key, dkim_public_key,
      tracking_label, return_path_label)
    values (${domain.organizationId}, ${domain.id}, ${domain.name}, ${domain.ownershipToken}, ${domain.key.selector},
      ${domain.key.privateKey}, ${domain.key.publicKey}, ${domain.trackingLabel}, ${domain.returnPathLabel})
    on conflict (organization_id, name) do nothing
    returning ${columns}`)

export const selectDomains = (db: Reader, organizationId: OrganizationId) =>
  db<Domain>`select ${columns} from domains where organization_id = ${organizationId} order by name`

export const selectDomain = (db: Reader, organizationId: OrganizationId, id: DomainId) =>
  first(db<Domain>`select ${columns} from domains where organization_id = ${organizationId} and id = ${id}`)

/** Locks the domain until the end of the transaction. */
export const lockDomain = (tx: Tx, organizationId: OrganizationId, id: DomainId) =>
  first(tx<Domain>`
    select ${columns} from domains where organization_id = ${organizationId} and id = ${id} for update`)

export type DomainKeys = { dkimKey: Buffer; nextDkimKey: Buffer | null }

/** The encrypted keys. */
export const selectKeys = (tx: Tx, organizationId: OrganizationId, id: DomainId) =>
  first(tx<DomainKeys>`
    select dkim_key, next_dkim_key from domains where organization_id = ${organizationId} and id = ${id}`)

export const countDomains = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`select count(*) from domains where organization_id = ${organizationId}`)

/** Returns false if the domain does not exist. */
export const deleteDomain = (tx: Tx, organizationId: OrganizationId, id: DomainId) =>
  hasRows(tx`delete from domains where organization_id = ${organizationId} and id = ${id} returning id`)

/** Starts a rotation, or replaces the key of one that has begun. */
export const updateNextKey = (tx: Tx, organizationId: OrganizationId, id: DomainId, key: NewKey) =>
  first(tx<Domain>`
    update domains
    set next_selector = ${key.selector}, next_dkim_key = ${key.privateKey}, next_dkim_public_key = ${key.publicKey},
      next_check_at = now()
    where organization_id = ${organizationId} and id = ${id}
    returning ${columns}`)

export const updateProof = (db: Writer, organizationId: OrganizationId, id: DomainId, { ownershipToken, key }: Proof) =>
  db`
    update domains
    set ownership_token = ${ownershipToken}, selector = ${key.selector}, dkim_key = ${key.privateKey},
      dkim_public_key = ${key.publicKey}
    where organization_id = ${organizationId} and id = ${id}`

export type DomainLabels = Pick<
  Domain,
  'trackingLabel' | 'returnPathLabel' | 'usesTrackingHost' | 'usesReturnPath' | 'checks'
>

/** The records of the new hosts are looked up soon. */
export const updateLabels = (tx: Tx, organizationId: OrganizationId, id: DomainId, labels: DomainLabels) =>
  first(tx<Domain>`
    update domains
    set tracking_label = ${labels.trackingLabel}, return_path_label = ${labels.returnPathLabel},
      uses_tracking_host = ${labels.usesTrackingHost}, uses_return_path = ${labels.usesReturnPath},
      checks = ${JSON.stringify(labels.checks)}::jsonb, next_check_at = now()
    where organization_id = ${organizationId} and id = ${id}
    returning ${columns}`)

export type CheckedDomain = Pick<
  Domain,
  'organizationId' | 'id' | 'status' | 'checks' | 'verifiedAt' | 'failingSince' | 'usesTrackingHost' | 'usesReturnPath'
> & {
  /** When the check began. */
  checkedAt: Date
  /** True if email is signed with the next key from now on. */
  switchesKey: boolean
  nextCheckInMs: number
}

export const updateChecked = (tx: Tx, domain: CheckedDomain) =>
  first(tx<Domain>`
    update domains
    set status = ${domain.status}, checks = ${JSON.stringify(domain.checks)}::jsonb, checked_at = ${domain.checkedAt},
      verified_at = ${domain.verifiedAt}, failing_since = ${domain.failingSince}, next_check_at = now() + ${domain.nextCheckInMs} * interval '1 ms',
      uses_tracking_host = ${domain.usesTrackingHost}, uses_return_path = ${domain.usesReturnPath},
      selector = case when ${domain.switchesKey} then next_selector else selector end,
      dkim_key = case when ${domain.switchesKey} then next_dkim_key else dkim_key end,
      dkim_public_key = case when ${domain.switchesKey} then next_dkim_public_key else dkim_public_key end,
      next_selector = case when ${domain.switchesKey} then null else next_selector end,
      next_dkim_key = case when ${domain.switchesKey} then null else next_dkim_key end,
      next_dkim_public_key = case when ${domain.switchesKey} then null else next_dkim_public_key end
    where organization_id = ${domain.organizationId} and id = ${domain.id}
    returning ${columns}`)

/** Whether another domain of the organization was verified at least once. */
export const hasOtherVerified = (db: Reader, organizationId: OrganizationId, id: DomainId) =>
  hasRows(db`
    select from domains
    where organization_id = ${organizationId} and id <> ${id} and verified_at is not null
    limit 1`)

/** Returns the organization that has verified a name, and its domain. */
export const findVerified = (db: Reader, name: string) =>
  first(db<{ organizationId: OrganizationId; domainId: DomainId }>`
    select organization_id, domain_id from verified_domains where name = ${name}`)

/** Returns false if another organization has verified it. */
export const claimName = (tx: Tx, name: string, organizationId: OrganizationId, id: DomainId) =>
  hasRows(tx`
    insert into verified_domains (name, organization_id, domain_id) values (${name}, ${organizationId}, ${id})
    on conflict (name) do update set domain_id = excluded.domain_id
    where verified_domains.organization_id = excluded.organization_id
    returning name`)

export const releaseName = (tx: Tx, name: string, organizationId: OrganizationId) =>
  tx`delete from verified_domains where name = ${name} and organization_id = ${organizationId}`

/** Takes over a host whose domain was verified by another organization before. */
export const claimHost = (tx: Tx, host: string, organizationId: OrganizationId) =>
  tx`
    insert into tracking_hosts (host, organization_id) values (${host}, ${organizationId})
    on conflict (host) do update set organization_id = excluded.organization_id`

export const releaseHost = (tx: Tx, host: string, organizationId: OrganizationId) =>
  tx`delete from tracking_hosts where host = ${host} and organization_id = ${organizationId}`

export const selectHosts = (db: Reader, limit: number) =>
  db<{ host: string; organizationId: OrganizationId }>`
    select host, organization_id from tracking_hosts limit ${limit}`

/**
 * Returns up to `limit` domains whose next check is due. The organizations take turns, so that one with many domains does
 * not delay the others.
 */
export const selectDue = (db: Reader, limit: number) =>
  db<Pick<Domain, 'organizationId' | 'id'>>`
    select organization_id, id
    from (
      select organization_id, id, next_check_at,
        row_number() over (partition by organization_id order by next_check_at) as turn
      from domains
      where next_check_at <= now()
    ) as due
    order by turn, next_check_at
    limit ${limit}`

/** Postpones the next check, so that no other process checks it as well. Returns undefined if another has done so. */
export const takeDue = (db: Writer, { organizationId, id }: Pick<Domain, 'organizationId' | 'id'>, ms: number) =>
  first(db<Domain>`
    update domains set next_check_at = now() + ${ms} * interval '1 ms'
    where organization_id = ${organizationId} and id = ${id} and next_check_at <= now()
    returning ${columns}`)

/** A check has failed: the next one follows after as much time as has passed since the last result, at most half a day. */
export const postponeFailed = (
  db: Writer,
  { organizationId, id }: Pick<Domain, 'organizationId' | 'id'>,
  msMin: number,
) =>
  db`
    update domains
    set next_check_at = now() + greatest(${msMin} * interval '1 ms',
      least(interval '12 hours', now() - coalesce(checked_at, created_at)))
    where organization_id = ${organizationId} and id = ${id}`

export type SenderRow = Pick<
  Domain,
  | 'name'
  | 'status'
  | 'selector'
  | 'trackingLabel'
  | 'returnPathLabel'
  | 'usesTrackingHost'
  | 'usesReturnPath'
  | 'organizationId'
  | 'id'
  | 'warmUpPlan'
> & { dkimKey: Buffer }

/** Returns the domain by its name if it was verified at least once. */
export const findSender = (db: Reader, organizationId: OrganizationId, name: string) =>
  first(db<SenderRow>`
    select name, status, selector, dkim_key, tracking_label, return_path_label, uses_tracking_host, uses_return_path,
      organization_id, id, warm_up_plan
    from domains
    where organization_id = ${organizationId} and name = ${name} and verified_at is not null`)
