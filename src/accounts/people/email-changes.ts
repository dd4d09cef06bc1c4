import { type Db, isUniqueViolation } from '../../platform/db/db.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { conflict, invalid, Refusal } from '../../platform/values/errors.ts'
import type { AccountEmails } from './account-emails.ts'
import { type Account, findUserByEmail } from './accounts.sql.ts'
import { isPasswordOf } from './accounts.ts'
import {
  type FoundEmailChange,
  findEmailChange,
  insertEmailChange,
  type PendingEmail,
  updateEmail,
  useEmailChange,
} from './email-changes.sql.ts'
import { createLinkToken, readLinkToken } from './link-tokens.ts'
import type { LoginThrottle } from './throttle.ts'

const validMinutes = 60
const requestsPerHourMax = 5

/** Limits the requests of one user, because each sends an email to an address that is not confirmed. */
export const createEmailChangeLimit = (): RateLimit =>
  new RateLimit({
    perSecond: requestsPerHourMax / 3600,
    burst: requestsPerHourMax,
    message: 'Too many changes of the email address were requested. Wait an hour and try again.',
  })

export type EmailChangeParts = {
  db: Db
  throttle: LoginThrottle
  emailChangeLimit: RateLimit
  accountEmails: AccountEmails
}

type EmailChange = { email: string; currentPassword: string; address: string }

/**
 * Sends a confirmation link to the new address; the old one stays in use until the link is used. An address that
 * belongs to another account is answered in the same way, and its user gets an email without a link.
 */
export async function requestEmailChange(
  { db, throttle, emailChangeLimit, accountEmails }: EmailChangeParts,
  user: Account,
  { email, currentPassword, address }: EmailChange,
): Promise<PendingEmail> {
  const requested = parseEmailField('email', email)
  if (requested.email === user.email) throw invalid({ path: 'email', problem: 'is already your email address' })
  if (!(await isPasswordOf(db, throttle, user, { password: currentPassword, address })))
    throw invalid({ path: 'current_password', problem: 'is incorrect' })
  emailChangeLimit.take(user.id)
  const { organizationId } = user
  const { token, tokenHash } = createLinkToken('eml', organizationId)
  return db.begin(async (tx) => {
    const change = { ...requested, tokenHash }
    const pending = await insertEmailChange(tx, user, change, validMinutes)
    const holder = await findUserByEmail(tx, requested.emailKey)
    accountEmails.add(
      tx,
      { organizationId, email: requested.email },
      holder && holder.id !== user.id
        ? { kind: 'email_taken' }
        : { kind: 'email_confirmation', token, oldEmail: user.email, minutes: validMinutes },
    )
    return pending
  })
}

const noLongerValid = () =>
  new Refusal('not_found', 'This link is no longer valid. Change the email address again in your profile.')

const readToken = (token: string) => readLinkToken('eml', token, noLongerValid)

/** Throws the same `Refusal` for unknown, used, replaced and expired links. */
export async function getEmailChange(db: Db, token: string): Promise<FoundEmailChange> {
  const change = await findEmailChange(db, readToken(token))
  if (!change) throw noLongerValid()
  return change
}

/** Changes the address and notifies the old one. Returns the new address. */
export async function confirmEmailChange(
  { db, accountEmails }: Pick<EmailChangeParts, 'db' | 'accountEmails'>,
  token: string,
): Promise<string> {
  const read = readToken(token)
  const taken = () => conflict('Another account uses this email address now. Choose another one.')
  return db
    .begin(async (tx) => {
      const change = await useEmailChange(tx, read)
      if (!change) throw noLongerValid()
      if (!(await updateEmail(tx, change))) throw taken()
      const { organizationId, oldEmail, newEmail } = change
      accountEmails.add(tx, { organizationId, email: oldEmail }, { kind: 'email_changed', newEmail })
      return newEmail
    })
    .catch((error) => {
      throw isUniqueViolation(error) ? taken() : error
    })
}
