import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { conflict, existing, notFound } from '../../platform/values/errors.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'
import { revokeApiKeysOf } from './api-keys.sql.ts'
import { deleteCredentials } from './credentials.sql.ts'
import { deleteInvitationsBy } from './invitations.sql.ts'
import { deleteSignIn } from './sessions.sql.ts'
import { deleteMember, hasOwner, type RoleChange, updateRole } from './team.sql.ts'

export async function changeRole(db: Db, organizationId: OrganizationId, id: UserId, change: RoleChange) {
  return keepingAnOwner(db, organizationId, async (tx) => {
    const member = await existing('member', updateRole(tx, organizationId, id, change))
    if (member.role !== 'owner') await deleteInvitationsBy(tx, organizationId, id)
    return member
  })
}

export type Removal = {
  revokeApiKeys: boolean
  /** Called in the transaction of the removal, to clean up data of the member in other folders. */
  onRemove?: (tx: Tx) => Promise<void>
}

/** Removes a member and withdraws their open invitations. Their sessions end with the next request. */
export async function removeMember(
  db: Db,
  organizationId: OrganizationId,
  id: UserId,
  { revokeApiKeys, onRemove }: Removal = { revokeApiKeys: false },
): Promise<void> {
  await keepingAnOwner(db, organizationId, async (tx) => {
    if (!(await deleteMember(tx, organizationId, id))) throw notFound('member')
    await deleteCredentials(tx, { organizationId, id })
    await deleteSignIn(tx, { organizationId, id })
    await deleteInvitationsBy(tx, organizationId, id)
    await onRemove?.(tx)
    if (revokeApiKeys) await revokeApiKeysOf(tx, organizationId, id)
  })
}

/** Rolls back a change that would leave no owner, even if two owners remove each other concurrently. */
function keepingAnOwner<Result>(
  db: Db,
  organizationId: OrganizationId,
  change: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return db.begin(async (tx) => {
    await lockOrganization(tx, organizationId)
    const result = await change(tx)
    if (!(await hasOwner(tx, organizationId)))
      throw conflict('The organization must have an owner. Make another member an owner first.')
    return result
  })
}
