import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type EmailAddress, parseEmailField } from '../../platform/values/email.ts'
import { conflict, invalid, Refusal } from '../../platform/values/errors.ts'
import { newId, type OrganizationId } from '../../platform/values/ids.ts'
import { type Account, findUserByEmail, insertUser, type Role } from './accounts.sql.ts'
import { isPasswordOf } from './accounts.ts'
import { deleteCredentials } from './credentials.sql.ts'
import { deleteInvitationsBy, deleteInvitationsOf, useInvitation } from './invitations.sql.ts'
import { getInvitation, noLongerValid, readInvitationToken } from './invitations.ts'
import type { LinkToken } from './link-tokens.ts'
import { checkNewPassword, hashPassword } from './passwords.ts'
import { deleteSignIn } from './sessions.sql.ts'
import { countTeam, hasOwner, moveUser } from './team.sql.ts'
import type { LoginThrottle } from './throttle.ts'

const teamMax = 500

export type Acceptance = { token: string; email: string | undefined; name: string | null; password: string }

/** Creates the account and deletes the invitation in the same transaction. */
export async function acceptInvitation(db: Db, { token, email, name, password }: Acceptance): Promise<Account> {
  const link = readInvitationToken(token)
  const { email: invited, role } = await getInvitation(db, token)
  const address = addressFor(invited, email)
  checkNewPassword(password)
  const passwordHash = await hashPassword(password)

  return db.begin(async (tx) => {
    await lockOrganization(tx, link.organizationId)
    await use(tx, link)
    const { organizationId } = link
    const draft = { id: newId('usr'), organizationId, ...address, name, passwordHash, role }
    const user = await insertUser(tx, draft)
    if (!user)
      throw conflict(
        'An account with this email address already exists. Choose “I already have an account” and enter its password.',
      )
    await deleteInvitationsOf(tx, organizationId, address.emailKey)
    return user
  })
}

export type ExistingAcceptance = { token: string; email: string | undefined; password: string; address: string }

/**
 * Moves an existing account, which keeps its password, to the organization of the invitation. An account belongs to one
 * organization, so it leaves the other one. Throws `Refusal` if that would leave the other one without an owner.
 */
export async function acceptWithAccount(
  { db, throttle }: { db: Db; throttle: LoginThrottle },
  { token, email, password, address }: ExistingAcceptance,
): Promise<Account> {
  const link = readInvitationToken(token)
  const { email: invited, role } = await getInvitation(db, token)
  const { emailKey: key } = addressFor(invited, email)
  if (!(await isPasswordOf(db, throttle, { email: key }, { password, address })))
    throw new Refusal('unauthorized', 'The email address or password is incorrect.')
  const account = await findUserByEmail(db, key)
  if (!account) throw noLongerValid()
  if (account.organizationId === link.organizationId)
    throw conflict('You are already a member of this organization. Sign in instead.')
  return db.begin((tx) => move(tx, link, account, { role, key }))
}

async function move(tx: Tx, link: LinkToken, account: Account, { role, key }: { role: Role; key: string }) {
  const from: OrganizationId = account.organizationId
  // In the order of their ids, so that two moves in opposite directions cannot deadlock.
  for (const id of [from, link.organizationId].sort()) await lockOrganization(tx, id)
  await use(tx, link)
  await deleteCredentials(tx, account)
  await deleteSignIn(tx, account)
  await deleteInvitationsBy(tx, from, account.id)
  const moved = await moveUser(tx, account, { organizationId: link.organizationId, role })
  if (!moved) throw noLongerValid()
  if (!(await hasOwner(tx, from)))
    throw conflict(
      'You are the only owner of your current organization. Make another member an owner, or delete the organization, and then open this link again.',
    )
  await deleteInvitationsOf(tx, link.organizationId, key)
  return moved
}

async function use(tx: Tx, { organizationId, tokenHash }: LinkToken): Promise<void> {
  if (!(await useInvitation(tx, organizationId, tokenHash))) throw noLongerValid()
  if ((await countTeam(tx, organizationId)) >= teamMax)
    throw conflict(`An organization can have at most ${teamMax} members.`)
}

/** Throws `Refusal` if the invitation is limited to another address. */
function addressFor(invited: string | null, given: string | undefined): EmailAddress {
  const address = parseEmailField('email', given ?? invited ?? '')
  if (invited !== null && address.emailKey !== invited.toLowerCase())
    throw invalid({ path: 'email', problem: 'must be the address that was invited' })
  return address
}
