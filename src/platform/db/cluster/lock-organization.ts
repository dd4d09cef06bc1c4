import type { OrganizationId } from '../../values/ids.ts'
import type { Tx } from '../access.ts'

const advisoryLock = 7_249_319

/**
 * Locks an organization until the end of the transaction, so that limits and rules about several of its rows also apply to
 * concurrent changes. Every node of a distributed database has a copy of the row and all copies would be locked, which fails
 * while any node is down, so it is locked on the coordinator there.
 */
export async function lockOrganization(tx: Tx, id: OrganizationId): Promise<void> {
  if (tx.isDistributed) await tx`select pg_advisory_xact_lock(${advisoryLock}, hashtext(${id}))`
  else await tx`select from organizations where id = ${id} for no key update`
}
