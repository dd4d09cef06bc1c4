import { lockOrganization } from '../../platform/db/cluster/lock-organization.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import type { EmailPath } from '../../platform/values/email-path.ts'
import { conflict, existing, invalid, notFound, Refusal } from '../../platform/values/errors.ts'
import { type InvitationId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import type { AccountEmails } from './account-emails.ts'
import { findUserByEmail, type Member, type Role } from './accounts.sql.ts'
import {
  countInvitations,
  deleteInvitation,
  type FoundInvitation,
  findInvitation,
  type Invitation,
  insertInvitation,
  lockInvitation,
  renewInvitation,
} from './invitations.sql.ts'
import { createLinkToken, readLinkToken } from './link-tokens.ts'
import { isOwner } from './team.sql.ts'

const validDays = 7
const pendingMax = 100
const sentMax = 5
const resendAfterMs = 60_000
const emailsPerHourMax = 30

export type InvitationParts = { db: Db; accountEmails: AccountEmails; invitationEmailLimit: RateLimit }

/** Limits invitation emails per organization: their recipients did not ask for them. */
export const createInvitationEmailLimit = (): RateLimit =>
  new RateLimit({
    perSecond: emailsPerHourMax / 3600,
    burst: emailsPerHourMax,
    message: `An organization can send ${emailsPerHourMax} invitations by email per hour. Create a link instead, or try again later.`,
  })

export const noLongerValid = () =>
  new Refusal('not_found', 'This invitation is no longer valid. Ask an owner of the organization for a new one.')

export const readInvitationToken = (token: string) => readLinkToken('inv', token, noLongerValid)

/** `path`: what happens to its email, or null if it has none. */
export type WrittenInvitation = { invitation: Invitation; token: string; path: EmailPath | null }
type NewInvitation = { email: string | undefined; role: Role; sendEmail: boolean }

/**
 * Creates an invitation and an email with it if it names an address. The token is returned only here; only its hash is stored.
 * Throws `Refusal` if the inviter is no longer an owner.
 */
export async function invite(
  { db, accountEmails, invitationEmailLimit }: InvitationParts,
  member: Member,
  { email, role, sendEmail }: NewInvitation,
): Promise<WrittenInvitation> {
  const { organizationId, id: invitedBy } = member
  if (email === undefined && role !== 'member')
    throw invalid({ path: 'role', problem: 'must be "member" unless email is given' })
  const address = email === undefined ? null : await freeAddress(db, organizationId, email)
  const hasEmail = sendEmail && address !== null
  if (hasEmail) invitationEmailLimit.take(organizationId)
  const path = hasEmail ? await accountEmails.pathOf(organizationId, { isPrivate: true }) : null
  const isSent = leaves(path)
  const { token, tokenHash } = createLinkToken('inv', organizationId)
  const invitation = await db.begin(async (tx) => {
    await lockForOwner(tx, member)
    if ((await countInvitations(tx, organizationId)) >= pendingMax)
      throw conflict(`There are already ${pendingMax} pending invitations. Withdraw one that is not needed.`)
    const draft = { organizationId, id: newId('inv'), email: address, role, invitedBy, tokenHash, isSent }
    const stored = await insertInvitation(tx, draft, validDays)
    if (hasEmail) await addEmail(tx, accountEmails, member, stored, token)
    return stored
  })
  return { invitation, token, path }
}

const leaves = (path: EmailPath | null) => path === 'sending' || path === 'waiting'

/** Sends the invitation again with a new link; the earlier one becomes invalid. */
export async function resendInvitation(
  { db, accountEmails, invitationEmailLimit }: InvitationParts,
  member: Member,
  id: InvitationId,
): Promise<WrittenInvitation> {
  const { organizationId, id: invitedBy } = member
  const { token, tokenHash } = createLinkToken('inv', organizationId)
  const path = await accountEmails.pathOf(organizationId, { isPrivate: true })
  return db.begin(async (tx) => {
    await lockForOwner(tx, member)
    const invitation = await existing('invitation', lockInvitation(tx, organizationId, id))
    checkResend(invitation)
    invitationEmailLimit.take(organizationId)
    const renewal = { tokenHash, invitedBy, isSent: leaves(path) }
    const renewed = await renewInvitation(tx, invitation, renewal, validDays)
    await addEmail(tx, accountEmails, member, renewed, token)
    return { invitation: renewed, token, path }
  })
}

function checkResend({ email, sentAt, sentCount }: Invitation): void {
  if (email === null) throw conflict('This invitation has no email address. Share its link instead.')
  if (sentCount >= sentMax)
    throw conflict(`This invitation was sent ${sentMax} times. Withdraw it and create a new one.`)
  const waitMs = sentAt ? sentAt.getTime() + resendAfterMs - Date.now() : 0
  if (waitMs > 0)
    throw new Refusal('rate_limited', 'This invitation was just sent. Wait a minute before you send it again.', {
      retryAfterSeconds: waitMs / 1000,
    })
}

/** The lock is also taken by the removal and demotion of owners. */
async function lockForOwner(tx: Tx, { organizationId, id }: Member): Promise<void> {
  await lockOrganization(tx, organizationId)
  if (!(await isOwner(tx, organizationId, id)))
    throw new Refusal('forbidden', 'Only owners of the organization can do this.')
}

async function addEmail(tx: Tx, emails: AccountEmails, member: Member, invitation: Invitation, token: string) {
  const { organizationId, email, role } = invitation
  emails.add(
    tx,
    { organizationId, email: email! },
    {
      kind: 'invitation',
      token,
      organizationName: member.organization.name,
      invitedBy: member.name ?? member.email,
      role,
      days: validDays,
    },
  )
}

/** Does not reveal accounts of other organizations. They are detected when the invitation is accepted. */
async function freeAddress(db: Db, organizationId: OrganizationId, email: string): Promise<string> {
  const address = parseEmailField('email', email)
  const user = await findUserByEmail(db, address.emailKey)
  if (user?.organizationId === organizationId) throw conflict('A member with this email address already exists.')
  return address.email
}

export async function withdrawInvitation(db: Db, organizationId: OrganizationId, id: InvitationId): Promise<void> {
  if (!(await deleteInvitation(db.statement, organizationId, id))) throw notFound('invitation')
}

/** Throws the same `Refusal` for unknown, used, withdrawn and expired invitations. */
export async function getInvitation(db: Db, token: string): Promise<FoundInvitation> {
  const { organizationId, tokenHash } = readInvitationToken(token)
  const invitation = await findInvitation(db, organizationId, tokenHash)
  if (!invitation) throw noLongerValid()
  return invitation
}
