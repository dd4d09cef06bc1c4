import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import { allValues, first, firstValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { MailServerId, OrganizationId } from '../../platform/values/ids.ts'
import type { MailServerKey } from './mail-server.ts'

/** A mail server with what is needed to send through it. */
export type MailServerRow = {
  organizationId: OrganizationId
  id: MailServerId
  name: string
  preset: string | null
  host: string
  username: string | null
  url: Buffer
  oauth: Buffer | null
  isShared: boolean
  kinds: FlowKind[]
  fromDomains: string[]
  priority: number
  weight: number
  connections: number
  messagesPerSecond: number | null
  messagesPerDay: number | null
  shapeByReceiver: boolean
  status: 'untested' | 'working' | 'failing'
  /** Whether an owner was the last to change how it connects. */
  isSetByOwner: boolean
  updatedAt: Date
}

/** The role is that of now: who is no longer an owner cannot read what leaves through the server. */
export const isSetByOwner = (organizationId: OrganizationId) => sql`exists (
  select from users
  where users.organization_id = ${organizationId} and users.id = mail_servers.connected_by and users.role = 'owner') as is_set_by_owner`

export const selectUsableServers = (db: Reader, organizationId: OrganizationId) =>
  db<MailServerRow>`
    select organization_id, id, name, preset, host, username, url, oauth, is_shared, kinds, from_domains, priority, weight, connections,
      messages_per_second, messages_per_day, shape_by_receiver, status, updated_at, ${isSetByOwner(organizationId)}
    from mail_servers
    where organization_id = ${organizationId}
    order by priority, id`

export const findOperator = (db: Reader) =>
  first(db<{ id: OrganizationId }>`select id from organizations where is_operator and deleted_at is null`)

/** Returns undefined if there are several organizations, or none. */
export async function findOnlyOrganization(db: Reader): Promise<OrganizationId | undefined> {
  const ids = await allValues(db<{ id: OrganizationId }>`select id from organizations where deleted_at is null limit 2`)
  return ids.length === 1 ? ids[0] : undefined
}

/** Whether any organization has a mail server. */
export async function hasMailServers(db: Db): Promise<boolean> {
  const rows = await db`select from mail_servers limit 1`
  return rows.length > 0
}

export type FailureState = {
  name: string
  host: string
  status: MailServerRow['status']
  failingSince: Date | null
  failureReportedAt: Date | null
}

export const lockMailServer = (tx: Tx, { organizationId, id }: MailServerKey) =>
  first(tx<FailureState>`
    select name, host, status, failing_since, failure_reported_at
    from mail_servers
    where organization_id = ${organizationId} and id = ${id}
    for update`)

export type Failure = { reason: string; since: Date; nextTryAt: Date; reportedAt: Date | null }

export const updateFailing = (tx: Tx, { organizationId, id }: MailServerKey, failure: Failure) =>
  tx`
    update mail_servers
    set status = 'failing', failure = ${failure.reason}, failing_since = ${failure.since}, next_try_at = ${failure.nextTryAt},
      failure_reported_at = ${failure.reportedAt}
    where organization_id = ${organizationId} and id = ${id}`

export const updateWorking = (tx: Tx, { organizationId, id }: MailServerKey) =>
  tx`
    update mail_servers
    set status = 'working', failure = null, failing_since = null, next_try_at = null, failure_reported_at = null
    where organization_id = ${organizationId} and id = ${id}`

export type ServerState = {
  id: MailServerId
  name: string
  status: MailServerRow['status']
  failure: string | null
  nextTryAt: Date | null
}

export const selectServerStates = (db: Reader, organizationId: OrganizationId) =>
  db<ServerState>`
    select id, name, status, failure, next_try_at
    from mail_servers
    where organization_id = ${organizationId}
    order by next_try_at`

/** Returns the name of a mail server whose provider reports bounces. */
export const findReportingServer = (db: Reader, organizationId: OrganizationId) =>
  firstValue(db<{ name: string }>`
    select name from mail_servers
    where organization_id = ${organizationId} and webhook_secret is not null
    order by created_at
    limit 1`)

/** Of all organizations, those that have failed longest first. */
export const selectFailingServers = (db: Reader, limit: number) =>
  db<{ name: string; host: string; failure: string | null }>`
    select name, host, failure from mail_servers
    where status = 'failing'
    order by failing_since
    limit ${limit}`

/** Failing mail servers that nothing has tried for some time, for example because the process that used them was killed. */
export const selectForgottenFailures = (db: Reader, { minutes, limit }: { minutes: number; limit: number }) =>
  db<MailServerKey>`
    select organization_id, id
    from mail_servers
    where status = 'failing' and next_try_at < now() - ${minutes} * interval '1 minute'
    order by next_try_at
    limit ${limit}`
