import { isPasswordOf, type LoginThrottle, lockSignup, type Member } from '../../accounts/accounts.ts'
import type { Db } from '../../platform/db/db.ts'
import { conflict, invalid, Refusal } from '../../platform/values/errors.ts'
import type { ApiKeyId, OrganizationId } from '../../platform/values/ids.ts'
import { appointOperator, isNeededByOthers, stopOrganization } from './delete-organization.sql.ts'

export type Deletion = { name: string; password: string; address: string }

/**
 * Deletes the organization of the member: its activity stops immediately, and its rows are erased in the background.
 * Returns the ids of its API keys, which other processes may accept for two more seconds. Throws `Refusal` if the name
 * or the password is wrong, or if other organizations depend on this one.
 */
export async function deleteOrganization(
  db: Db,
  throttle: LoginThrottle,
  member: Member,
  { name, password, address }: Deletion,
): Promise<ApiKeyId[]> {
  const { organization } = member
  if (name !== organization.name) throw invalid({ path: 'name', problem: 'must be the name of the organization' })
  if (!(await isPasswordOf(db, throttle, member, { password, address })))
    throw invalid({ path: 'password', problem: 'is incorrect' })
  return db.begin(async (tx) => {
    // Serialized with registrations, which depend on whether an organization exists.
    await lockSignup(tx)
    if (await isNeededByOthers(tx, organization.id))
      throw conflict(
        'The owners of this organization operate the installation, and other organizations use it. Delete the other organizations first.',
      )
    const keys = await stopOrganization(tx, organization.id)
    if (!keys) throw new Refusal('not_found', 'The organization is already deleted.')
    return keys
  })
}

/**
 * For commands: deletes an organization without a password. If its owners operate the installation, the oldest
 * organization that did not register itself operates it from now on. Throws `Refusal` if there are only such ones.
 */
export async function removeOrganization(db: Db, id: OrganizationId): Promise<void> {
  await db.begin(async (tx) => {
    await lockSignup(tx)
    const isNeeded = await isNeededByOthers(tx, id)
    await stopOrganization(tx, id)
    if (isNeeded && !(await appointOperator(tx)))
      throw conflict(
        'The owners of this organization operate the installation, and all others registered themselves. Create an organization of your own with create-organization first.',
      )
  })
}
