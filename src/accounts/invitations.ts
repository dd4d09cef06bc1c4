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
  useInvitation,
} from './invitations.sql.ts'
import { checkNewPassword, hashPassword } from './passwords.ts'
import { countTeam, isOwner } from './team.sql.ts'

const validDays = 7
const pendingMax = 100
const teamMax = 500

/** The token contains the organization's id before the secret, so that only its own invitations are searched. */
const tokenPattern = /^inv_([0-9a-z]{26})([A-Za-z0-9_-]{43})$/

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

function readToken(token: string): { organizationId: OrganizationId; tokenHash: Buffer } {
  const [, organization, secret] = tokenPattern.exec(token) ?? []
  const organizationId = organization && parseId('org', `org_${organization}`)
  if (!organizationId || !secret) throw noLongerValid()
  return { organizationId, tokenHash: hashOf(secret) }
}

const noLongerValid = () =>
  new Refusal('not_found', 'This invitation is no longer valid. Ask an owner of the organization for a new one.')

/** The token is returned only here; only its hash is stored. Throws `Refusal` if the inviter is no longer an owner. */
export async function invite(
  db: Db,
  { organizationId, id: invitedBy }: Pick<User, 'organizationId' | 'id'>,
  { email, role }: { email: string | undefined; role: Role },
): Promise<{ invitation: Invitation; token: string }> {
  if (email === undefined && role !== 'member')
    throw invalid({ path: 'role', problem: 'must be "member" unless email is given' })
  const address = email === undefined ? undefined : await freeAddress(db, organizationId, email)
  const secret = randomBytes(32).toString('base64url')
  const invitation = await db.begin(async (tx) => {
    await lockOrganization(tx, organizationId)
    // Checked while holding the lock, which is also taken by the removal and demotion of owners.
    if (!(await isOwner(tx, organizationId, invitedBy)))
      throw new Refusal('forbidden', 'Only owners of the organization can do this.')
    if ((await countInvitations(tx, organizationId)) >= pendingMax)
      throw new Refusal(
        'conflict',
        `There are already ${pendingMax} pending invitations. Withdraw one that is not needed.`,
      )
    const tokenHash = hashOf(secret)
    const draft = { organizationId, id: newId('inv'), email: address ?? null, role, invitedBy, tokenHash }
    return insertInvitation(tx, draft, validDays)
  })
  return { invitation, token: `inv_${toText('org', organizationId).slice('org_'.length)}${secret}` }
}

/** Does not reveal accounts of other organizations. They are detected when the invitation is accepted. */
async function freeAddress(db: Db, organizationId: OrganizationId, email: string): Promise<string> {
  const parsed = parseEmail(email)
  if (!parsed.ok) throw invalid({ path: 'email', problem: parsed.problem })
  const user = await findUserByEmail(db, parsed.key)
  if (user?.organizationId === organizationId)
    throw new Refusal('conflict', 'A member with this email address already exists.')
  return parsed.address
}

export async function withdrawInvitation(db: Db, organizationId: OrganizationId, id: InvitationId): Promise<void> {
  if (!(await deleteInvitation(db.statement, organizationId, id))) throw notFound('invitation')
}

/** Throws the same `Refusal` for unknown, used, withdrawn and expired invitations. */
export async function getInvitation(db: Db, token: string): Promise<FoundInvitation> {
  const { organizationId, tokenHash } = readToken(token)
  const invitation = await findInvitation(db, organizationId, tokenHash)
  if (!invitation) throw noLongerValid()
  return invitation
}

export type Acceptance = { token: string; email: string | undefined; password: string }

/** Creates the account and deletes the invitation in the same transaction. */
export async function acceptInvitation(db: Db, { token, email, password }: Acceptance): Promise<Account> {
  const { organizationId, tokenHash } = readToken(token)
  const { email: invited, role } = await getInvitation(db, token)
  const { address, key } = addressFor(invited, email)
  checkNewPassword(password)
  const passwordHash = await hashPassword(password)

  return db.begin(async (tx) => {
    await lockOrganization(tx, organizationId)
    if (!(await useInvitation(tx, organizationId, tokenHash))) throw noLongerValid()
    if ((await countTeam(tx, organizationId)) >= teamMax)
      throw new Refusal('conflict', `An organization can have at most ${teamMax} members.`)
    const draft = { id: newId('usr'), organizationId, email: address, emailKey: key, passwordHash, role }
    const user = await insertUser(tx, draft)
    if (!user)
      throw new Refusal(
        'conflict',
        'An account with this email address already exists. Ask for an invitation to another address.',
      )
    await deleteInvitationsOf(tx, organizationId, key)
    return user
  })
}

/** Throws `Refusal` if the invitation is limited to another address. */
function addressFor(invited: string | null, given: string | undefined): { address: string; key: string } {
  const email = parseEmail(given ?? invited ?? '')
  if (!email.ok) throw invalid({ path: 'email', problem: email.problem })
  if (invited !== null && email.key !== invited.toLowerCase())
    throw invalid({ path: 'email', problem: 'must be the address that was invited' })
  return email
}
