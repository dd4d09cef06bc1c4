import type { RelayState } from '@waxwing/smtp-client'
import type { Db, Reader, Tx } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { MailServerKey } from './mail-server.ts'
import type { MailServers } from './mail-servers.ts'
import {
  type FailureState,
  lockMailServer,
  type ServerState,
  selectFailingServers,
  selectForgottenFailures,
  selectServerStates,
  updateFailing,
  updateWorking,
} from './runtime.sql.ts'

/** A restart of a mail server takes less. Also reported then if it recovers and fails again later. */
const reportedAfterMs = 5_000

export { findReportingServer, type ServerState } from './runtime.sql.ts'

export type MailServerChange = MailServerKey & { name: string; host: string } & (
    | { status: 'failing'; reason: string; since: Date }
    | { status: 'working'; since: Date }
  )

export type StateParts = {
  db: Db
  log: Log
  /** Informs webhooks and owners, in the transaction of the change. */
  onChange: (tx: Tx, change: MailServerChange) => Promise<void>
}

/** Records whether a mail server works, as this process has observed it. Never throws. */
export async function recordState(parts: StateParts, key: MailServerKey, state: RelayState): Promise<void> {
  const { db, log } = parts
  try {
    await db.begin(async (tx) => {
      const server = await lockMailServer(tx, key)
      if (!server) return
      if (state.kind === 'up') await recordWorking(tx, parts, key, server)
      else await recordFailing(tx, parts, { key, server, state })
    })
  } catch (error) {
    // It is reported again with the next try.
    log.warn({ err: error, mailServer: key.id }, 'The state of a mail server could not be recorded')
  }
}

async function recordWorking(tx: Tx, { onChange }: StateParts, key: MailServerKey, server: FailureState) {
  if (server.status === 'working') return
  await updateWorking(tx, key)
  const { name, host, failingSince, failureReportedAt } = server
  if (failingSince && failureReportedAt)
    await onChange(tx, { ...key, name, host, status: 'working', since: failingSince })
}

type Failing = { key: MailServerKey; server: FailureState; state: RelayState & { kind: 'down' } }

async function recordFailing(tx: Tx, { onChange, log }: StateParts, { key, server, state }: Failing): Promise<void> {
  const { reason, nextTryAt } = state
  const since = server.failingSince ?? state.since
  const isLong = Date.now() - since.getTime() >= reportedAfterMs
  const { failureReportedAt } = server
  const reportedAt = failureReportedAt ?? (isLong ? new Date() : null)
  await updateFailing(tx, key, { reason, since, nextTryAt, reportedAt })
  if (failureReportedAt || !reportedAt) return
  const { name, host } = server
  log.warn({ mailServer: key.id, organization: key.organizationId, reason }, 'A mail server is failing')
  await onChange(tx, { ...key, name, host, status: 'failing', reason, since })
}

export const failingServersMax = 100
export const findFailingServers = (db: Reader) => selectFailingServers(db, failingServersMax)

const forgottenMinutes = 2
const forgottenMax = 50

/** Tries failing mail servers that no process tries any more, so that they are not shown as failing for ever. */
export async function tryForgottenServers(db: Db, servers: MailServers): Promise<void> {
  const keys = await selectForgottenFailures(db, { minutes: forgottenMinutes, limit: forgottenMax })
  await Promise.all(keys.map((key) => servers.check(key)))
}

/** Those that are tried again soonest first. */
export const findServerStates: (db: Reader, organizationId: OrganizationId) => Promise<ServerState[]> =
  selectServerStates

/** Returns how the mail servers of an organization are, as stored, or undefined if it has none. All are down or it is up. */
export async function findStoredState(db: Reader, organizationId: OrganizationId): Promise<StoredState | undefined> {
  const servers = await findServerStates(db, organizationId)
  const [first] = servers
  if (!first) return undefined
  if (!servers.every(({ status }) => status === 'failing')) return { kind: 'up' }
  return { kind: 'down', reason: `${first.name}: ${first.failure}`, nextTryAt: first.nextTryAt ?? new Date() }
}

export type StoredState = { kind: 'up' } | { kind: 'down'; reason: string; nextTryAt: Date }
