import type { Db } from '../../platform/db/db.ts'
import { parseEmail, parseEmailField } from '../../platform/values/email.ts'
import { conflict, invalid, Refusal } from '../../platform/values/errors.ts'
import { newId, type UserId } from '../../platform/values/ids.ts'
import { isTimeZone } from '../../platform/values/time-zone.ts'
import type { AccountEmails } from './account-emails.ts'
import { type Account, findUserByEmail, hasUsers, insertOrganization, insertUser, lockSignup } from './accounts.sql.ts'
import { updatePassword } from './credentials.sql.ts'
import { checkNewPassword, hashPassword, passwordFits } from './passwords.ts'
import type { LoginThrottle } from './throttle.ts'

export { hasUsers, lockSignup } from './accounts.sql.ts'
export { deleteExpiredCredentials } from './credentials.sql.ts'

export type Registration = {
  organizationName: string
  email: string
  password: string
  timezone?: string | undefined
}

/** `operator` is used by commands: anyone with access to the machine may create an organization. */
export type Signup = 'first-user' | 'open' | 'operator'

/** Creates an organization and its owner. Throws `Refusal` if registration is closed or the address has an account. */
export async function register(db: Db, signup: Signup, registration: Registration): Promise<Account> {
  const organizationName = registration.organizationName.trim()
  if (organizationName === '') throw invalid({ path: 'organization_name', problem: 'must not be empty' })
  const address = parseEmailField('email', registration.email)
  checkNewPassword(registration.password)
  const { timezone } = registration
  checkTimeZone(timezone)
  if (signup === 'first-user' && (await hasUsers(db))) throw signupClosed()
  const passwordHash = await hashPassword(registration.password)

  return db.begin(async (tx) => {
    await lockSignup(tx)
    const isFirst = !(await hasUsers(tx))
    if (signup === 'first-user' && !isFirst) throw signupClosed()
    const organizationId = newId('org')
    await insertOrganization(tx, {
      id: organizationId,
      name: organizationName,
      timezone,
      selfRegistered: signup === 'open' && !isFirst,
    })
    const user = await insertUser(tx, {
      id: newId('usr') as UserId,
      organizationId,
      ...address,
      passwordHash,
      role: 'owner',
    })
    if (!user) throw conflict('An account with this email address already exists. Sign in instead.')
    return user
  })
}

/** Throws `Refusal` unless it is undefined or an IANA time zone. */
export function checkTimeZone(timezone: string | undefined): void {
  if (timezone !== undefined && !isTimeZone(timezone))
    throw invalid({ path: 'timezone', problem: 'must be a time zone such as Europe/Vienna or UTC' })
}

const signupClosed = () =>
  new Refusal('forbidden', 'Registration is closed. Ask an owner of the organization to invite you.')

export type Credentials = { email: string; password: string; address: string }

export async function login(db: Db, throttle: LoginThrottle, { email, ...given }: Credentials): Promise<Account> {
  const parsed = parseEmail(email)
  const key = parsed.ok ? parsed.key : email.slice(0, 320).toLowerCase()
  const user = await findUserByPassword(db, throttle, key, given)
  if (!user) throw new Refusal('unauthorized', 'The email address or password is incorrect.')
  return user
}

function findUserByPassword(
  db: Db,
  throttle: LoginThrottle,
  key: string,
  { password, address }: Omit<Credentials, 'email'>,
): Promise<Account | undefined> {
  return throttle.attempt(key, address, async () => {
    const user = await findUserByEmail(db, key)
    return (await passwordFits(user?.passwordHash, password)) ? user : undefined
  })
}

/** Checks the password of a signed-in user. Failures count like failed logins. */
export async function isPasswordOf(
  db: Db,
  throttle: LoginThrottle,
  { email }: Pick<Account, 'email'>,
  given: Omit<Credentials, 'email'>,
): Promise<boolean> {
  return (await findUserByPassword(db, throttle, email.toLowerCase(), given)) !== undefined
}

export type PasswordChange = { currentPassword: string; newPassword: string; address: string }

/** Requires the current password, so that a stolen session is not sufficient to take over the account. */
export async function changePassword(
  { db, throttle, accountEmails }: { db: Db; throttle: LoginThrottle; accountEmails: AccountEmails },
  user: Account,
  { currentPassword, newPassword, address }: PasswordChange,
): Promise<Account> {
  checkNewPassword(newPassword, 'new_password')
  if (!(await isPasswordOf(db, throttle, user, { password: currentPassword, address })))
    throw invalid({ path: 'current_password', problem: 'is incorrect' })
  const passwordHash = await hashPassword(newPassword)
  await db.begin(async (tx) => {
    await updatePassword(tx, user, passwordHash)
    accountEmails.add(tx, user, { kind: 'password_changed' })
  })
  return { ...user, passwordHash }
}

/** For operators: does not require the current password. Ends all sessions of the account. */
export async function resetPassword(db: Db, email: string, newPassword: string): Promise<Account> {
  const address = parseEmailField('email', email)
  checkNewPassword(newPassword)
  const user = await findUserByEmail(db, address.emailKey)
  if (!user) throw new Refusal('not_found', `No account found for ${address.email}.`)
  const passwordHash = await hashPassword(newPassword)
  await db.begin((tx) => updatePassword(tx, user, passwordHash))
  return { ...user, passwordHash }
}
