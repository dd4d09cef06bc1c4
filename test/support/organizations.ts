import { inject } from 'vitest'
import { type Account, insertOrganization, insertUser } from '../../src/accounts/people/accounts.sql.ts'
import { Sessions } from '../../src/accounts/people/sessions.ts'
import { startSession } from '../../src/accounts/people/start-session.ts'
import type { Db } from '../../src/platform/db/db.ts'
import type { AppSecrets } from '../../src/platform/secrets/secrets.ts'
import { newId, type UserId } from '../../src/platform/values/ids.ts'

/**
 * Creates an organization and its owner, whose password is that of the injected owner: hashing it again would take
 * 70 ms of CPU time.
 */
export async function insertOwner(db: Db, organizationName: string, email: string): Promise<Account> {
  const { passwordHash } = inject('owner').account
  const organizationId = newId('org')
  const owner = await db.begin(async (tx) => {
    await insertOrganization(tx, { id: organizationId, name: organizationName, selfRegistered: false })
    const user = { id: newId('usr') as UserId, organizationId, email, emailKey: email, role: 'owner' as const }
    return insertUser(tx, { ...user, passwordHash })
  })
  if (!owner) throw new Error(`${email} is registered already.`)
  return owner
}

/** Signs a user in and returns the session. */
export async function sessionOf(db: Db, secrets: AppSecrets, account: Account): Promise<string> {
  const device = { headers: { 'user-agent': 'node' }, ip: '127.0.0.1' }
  return (await startSession({ db, sessions: new Sessions(secrets) }, account, device)).token
}
