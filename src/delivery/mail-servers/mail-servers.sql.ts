import type { Reader, Tx, Writer } from '../../platform/db/db.ts'
import { first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { MailServerId, OrganizationId, UserId } from '../../platform/values/ids.ts'
import type { MailServer, MailServerKey } from './mail-server.ts'
import { isSetByOwner } from './runtime.sql.ts'

const columns = (organizationId: OrganizationId) => sql`
  organization_id, id, name, preset, host, port, security, username, auth, is_shared, kinds, from_domains, priority,
  weight, connections, messages_per_second, messages_per_day, shape_by_receiver,
  webhook_secret is not null as has_webhook_secret, status, failure, failing_since, next_try_at, tested_at, updated_at, created_at,
  ${isSetByOwner(organizationId)}`

export type Sealed = { url: Buffer; oauth: Buffer | null; webhookSecret: Buffer | null }
/** With its encrypted credentials. */
export type SealedMailServer = MailServer & Sealed

/** In the order in which they are tried. */
export const selectMailServers = (db: Reader, organizationId: OrganizationId) =>
  db<MailServer>`
    select ${columns(organizationId)} from mail_servers where organization_id = ${organizationId} order by priority, id`

export const findMailServer = (db: Reader, organizationId: OrganizationId, id: MailServerId) =>
  first(db<SealedMailServer>`
    select ${columns(organizationId)}, url, oauth, webhook_secret from mail_servers
    where organization_id = ${organizationId} and id = ${id}`)

export const lockMailServerRow = (tx: Tx, organizationId: OrganizationId, id: MailServerId) =>
  first(tx<SealedMailServer>`
    select ${columns(organizationId)}, url, oauth, webhook_secret from mail_servers
    where organization_id = ${organizationId} and id = ${id}
    for update`)

export const countMailServers = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`select count(*) from mail_servers where organization_id = ${organizationId}`)

/** What is stored of a request. */
export type StoredSettings = Sealed &
  Pick<
    MailServer,
    | 'name'
    | 'preset'
    | 'host'
    | 'port'
    | 'security'
    | 'username'
    | 'auth'
    | 'isShared'
    | 'kinds'
    | 'fromDomains'
    | 'priority'
    | 'weight'
    | 'connections'
    | 'messagesPerSecond'
    | 'messagesPerDay'
    | 'shapeByReceiver'
  >

export const insertMailServer = (
  tx: Tx,
  { organizationId, id }: MailServerKey,
  row: StoredSettings,
  { connectedBy, testedAt }: { connectedBy: UserId | null; testedAt: Date | undefined },
) =>
  tx`
    insert into mail_servers (organization_id, id, name, preset, url, oauth, webhook_secret, host, port, security, username,
      auth, is_shared, kinds, from_domains, priority, weight, connections, messages_per_second, messages_per_day,
      shape_by_receiver, connected_by, status, tested_at)
    values (${organizationId}, ${id}, ${row.name}, ${row.preset}, ${row.url}, ${row.oauth}, ${row.webhookSecret}, ${row.host},
      ${row.port}, ${row.security}, ${row.username}, ${row.auth}, ${row.isShared}, ${row.kinds}, ${row.fromDomains}, ${row.priority},
      ${row.weight}, ${row.connections}, ${row.messagesPerSecond}, ${row.messagesPerDay},
      ${row.shapeByReceiver}, ${connectedBy}, ${testedAt ? 'working' : 'untested'}, ${testedAt ?? null})`

/** `isNew`: it connects in another way than before, so nothing is known about its state. `connectedBy`: null if it is the same. */
export const updateMailServer = (
  tx: Tx,
  { organizationId, id }: MailServerKey,
  row: StoredSettings,
  { isNew, connectedBy }: { isNew: boolean; connectedBy: UserId | null },
) =>
  tx`
    update mail_servers
    set name = ${row.name}, preset = ${row.preset}, url = ${row.url}, oauth = ${row.oauth},
      webhook_secret = ${row.webhookSecret}, host = ${row.host}, port = ${row.port}, security = ${row.security},
      username = ${row.username}, auth = ${row.auth}, is_shared = ${row.isShared}, kinds = ${row.kinds}, from_domains = ${row.fromDomains},
      priority = ${row.priority}, weight = ${row.weight}, connections = ${row.connections},
      messages_per_second = ${row.messagesPerSecond}, messages_per_day = ${row.messagesPerDay},
      shape_by_receiver = ${row.shapeByReceiver},
      status = case when ${isNew} then 'untested' else status end,
      failure = case when ${isNew} then null else failure end,
      failing_since = case when ${isNew} then null else failing_since end,
      next_try_at = case when ${isNew} then null else next_try_at end,
      failure_reported_at = case when ${isNew} then null else failure_reported_at end,
      tested_at = case when ${isNew} then null else tested_at end,
      connected_by = coalesce(${connectedBy}, connected_by),
      updated_at = now()
    where organization_id = ${organizationId} and id = ${id}`

export const deleteMailServerRow = (db: Writer, organizationId: OrganizationId, id: MailServerId) =>
  db`delete from mail_servers where organization_id = ${organizationId} and id = ${id}`

/** Returns false if the connection was changed since. `updated_at` stays the same: open connections remain in use. */
export const updateTested = (db: Writer, { organizationId, id, url }: MailServerKey & Pick<Sealed, 'url'>) =>
  hasRows(db`
    update mail_servers set tested_at = now()
    where organization_id = ${organizationId} and id = ${id} and url = ${url}
    returning true`)

export const findOAuth = (db: Reader, { organizationId, id }: MailServerKey) =>
  first(db<{ oauth: Buffer | null }>`
    select oauth from mail_servers where organization_id = ${organizationId} and id = ${id}`)

/** Has no effect if it was changed since. */
export const replaceOAuth = (
  db: Writer,
  { organizationId, id }: MailServerKey,
  { before, after }: { before: Buffer; after: Buffer },
) =>
  db`
    update mail_servers set oauth = ${after}
    where organization_id = ${organizationId} and id = ${id} and oauth = ${before}`
