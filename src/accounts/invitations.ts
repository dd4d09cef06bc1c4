import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '../db/db.ts'
import { parseEmail } from '../values/email.ts'
import { invalid, notFound, Refusal } from '../values/errors.ts'
import { type InvitationId, newId, type OrganizationId, parseId, toText } from '../values/ids.ts'
import { type Account, findUserByEmail, insertUser, lockOrganization, type Role, type User } from './accounts.sql.ts'
import {
  countInvitations,
  deleteInvitation,
  deleteInvitationsOf,
  type FoundInvitation,
  findInvitation,
  type Invitation,
  insertInvitation,
  takeInvitation,
} from './invitations.sql.ts'
import { checkNewPassword, hashPassword } from './passwords.ts'
import { countTeam, isOwner } from './team.sql.ts'

const validDays = 7
const waitingMax = 100
const teamMax = 500

/** The organization's id stands in front of the secret, so that it is looked for among its own invitations only. */
const tokenPattern = /^inv_([0-9a-z]{26})([A-Za-z0-9_-]{43})$/

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

function readToken(token: string): { organizationId: OrganizationId; tokenHash: Buffer } {
  const [, organization, secret] = tokenPattern.exec(token) ?? []
  const organizationId = organization && parseId('org', `org_${organization}`)
  if (!organizationId || !secret) throw noLongerValid()
  return { organizationId, tokenHash: hashOf(secret) }
}

const noLongerValid = () =>
  new Refusal('not_found', 'This invitation is no longer valid. Ask an owner of the organization for another.')

/** The token is answered here and never again. */
export async function invite(
  db: Db,
  { organizationId, id: invitedBy }: Pick<User, 'organizationId' | 'id'>,
  { email, role }: { email: string | undefined; role: Role },
): Promise<{ invitation: Invitation; token: string }> {
  if (email === undefined && role !== 'member')
    throw invalid({ path: 'role', problem: 'must be member unless the invitation names an email address' })
  const address = email === undefined ? undefined : await freeAddress(db, organizationId, email)
  const secret = randomBytes(32).toString('base64url')
  const invitation = await db.begin(async (tx) => {
    await lockOrganization(tx, organizationId)
    // Checked under the lock that removing and demoting take: their invitations are withdrawn then.
    if (!(await isOwner(tx, organizationId, invitedBy)))
      throw new Refusal('forbidden', 'Only owners of the organization can do this.')
    if ((await countInvitations(tx, organizationId)) >= waitingMax)
      throw new Refusal('conflict', `${waitingMax} invitations wait already. Withdraw one that is not needed.`)
    const tokenHash = hashOf(secret)
    const draft = { organizationId, id: newId('inv'), email: address ?? null, role, invitedBy, tokenHash }
    return insertInvitation(tx, draft, validDays)
  })
  return { invitation, token: `inv_${toText('org', organizationId).slice('org_'.length)}${secret}` }
}

/** An account of another organization is not told: it shows when its owner tries to accept. */
async function freeAddress(db: Db, organizationId: OrganizationId, email: string): Promise<string> {
  const parsed = parseEmail(email)
  if (!parsed.ok) throw invalid({ path: 'email', problem: parsed.problem })
  const user = await findUserByEmail(db, parsed.key)
  if (user?.organizationId === organizationId)
    throw new Refusal('conflict', 'Somebody with this address is in the organization already.')
  return parsed.address
}

export async function withdrawInvitation(db: Db, organizationId: OrganizationId, id: InvitationId): Promise<void> {
  if (!(await deleteInvitation(db.statement, organizationId, id))) throw notFound('invitation')
}

/** Unknown, used, withdrawn and expired look alike. */
export async function getInvitation(db: Db, token: string): Promise<FoundInvitation> {
  const { organizationId, tokenHash } = readToken(token)
  const invitation = await findInvitation(db, organizationId, tokenHash)
  if (!invitation) throw noLongerValid()
  return invitation
}

export type Acceptance = { token: string; email: string | undefined; password: string }

/** Makes the account. The invitation goes with the same commit, so it serves once. */
export async function acceptInvitation(db: Db, { token, email, password }: Acceptance): Promise<Account> {
  const { organizationId, tokenHash } = readToken(token)
  const { email: invited, role } = await getInvitation(db, token)
  const { address, key } = addressFor(invited, email)
  checkNewPassword(password)
  const passwordHash = await hashPassword(password)

  return db.begin(async (tx) => {
    await lockOrganization(tx, organizationId)
    if (!(await takeInvitation(tx, organizationId, tokenHash))) throw noLongerValid()
    if ((await countTeam(tx, organizationId)) >= teamMax)
      throw new Refusal('conflict', `An organization can have ${teamMax} members.`)
    const draft = { id: newId('usr'), organizationId, email: address, emailKey: key, passwordHash, role }
    const user = await insertUser(tx, draft)
    if (!user)
      throw new Refusal(
        'conflict',
        'There is an account with this address already. Ask for an invitation to another address.',
      )
    await deleteInvitationsOf(tx, organizationId, key)
    return user
  })
}

/** An invitation that names an address is for that address. */
function addressFor(invited: string | null, given: string | undefined): { address: string; key: string } {
  const email = parseEmail(given ?? invited ?? '')
  if (!email.ok) throw invalid({ path: 'email', problem: email.problem })
  if (invited !== null && email.key !== invited.toLowerCase())
    throw invalid({ path: 'email', problem: 'is not the address that was invited' })
  return email
}
