import { type Db, isConnectionFault } from '../../platform/db/db.ts'
import { RateLimit } from '../../platform/runtime/rate-limit.ts'
import { clientNetwork } from '../../platform/values/client-address.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { AccountEmails } from './account-emails.ts'
import { type Account, findUserByEmail } from './accounts.sql.ts'
import { updatePassword } from './credentials.sql.ts'
import { createLinkToken, readLinkToken } from './link-tokens.ts'
import {
  countResets,
  type FoundReset,
  findReset,
  insertReset,
  insertResetRequest,
  selectResetRequests,
  takeResetRequests,
  useReset,
} from './password-resets.sql.ts'
import { checkNewPassword, hashPassword } from './passwords.ts'

const validMinutes = 30
/** Valid links of one account at the same time. Further requests are ignored, in all processes together. */
const linksPerAccountMax = 3
/** A request is ignored if no process handled it for this time. */
const requestMinutesMax = 30
const batchMax = 50

const windowSeconds = 15 * 60
const perEmailMax = 3
const perClientMax = 20

/** Limits requests by email address, with and without an account, and by client address. */
export class ResetLimit {
  readonly #limits = [perEmailMax, perClientMax].map(
    (max) =>
      new RateLimit({
        perSecond: max / windowSeconds,
        burst: max,
        message: 'Too many password resets were requested. Wait a few minutes and try again.',
      }),
  )

  /** Throws `Refusal` if there were too many requests. */
  take(emailKey: string, clientAddress: string): void {
    const [byEmail, byClient] = this.#limits
    byClient!.take(clientNetwork(clientAddress))
    byEmail!.take(emailKey)
  }
}

/**
 * Requests an email with a link to set a new password. Does the same work for addresses with and without an account,
 * so that neither the response nor its time reveals which addresses have one.
 */
export async function requestPasswordReset(
  db: Db,
  limit: ResetLimit,
  { email, address }: { email: string; address: string },
): Promise<void> {
  const { emailKey } = parseEmailField('email', email)
  limit.take(emailKey, address)
  await insertResetRequest(db.statement, emailKey)
}

export type ResetParts = { db: Db; accountEmails: AccountEmails }

/**
 * Creates the emails for requested resets. Requests for addresses without an account are discarded. On a distributed database,
 * those of accounts on a node that is down stay until it is back or they have expired, and do not delay the others.
 */
export async function prepareResetEmails(parts: ResetParts): Promise<void> {
  const { db } = parts
  const ids = await selectResetRequests(db, batchMax)
  if (ids.length === 0) return
  const batches = db.isDistributed ? ids.map((id) => [id]) : [ids]
  const results = await Promise.allSettled(batches.map((batch) => prepareBatch(parts, batch)))
  for (const result of results)
    if (result.status === 'rejected' && !(db.isDistributed && isConnectionFault(result.reason))) throw result.reason
}

function prepareBatch({ db, accountEmails }: ResetParts, ids: readonly string[]): Promise<void> {
  return db.begin(async (tx) => {
    for (const emailKey of await takeResetRequests(tx, ids, requestMinutesMax)) {
      const user = await findUserByEmail(tx, emailKey)
      if (!user || (await countResets(tx, user)) >= linksPerAccountMax) continue
      const { token, tokenHash } = createLinkToken('rst', user.organizationId)
      await insertReset(tx, user, tokenHash, validMinutes)
      accountEmails.add(tx, user, { kind: 'password_reset', token, minutes: validMinutes })
    }
  })
}

const noLongerValid = () =>
  new Refusal('not_found', 'This link is no longer valid. Request a new one on the sign-in page.')

const readToken = (token: string) => readLinkToken('rst', token, noLongerValid)

/** Throws the same `Refusal` for unknown, used and expired links. */
export async function getReset(db: Db, token: string): Promise<FoundReset> {
  const reset = await findReset(db, readToken(token))
  if (!reset) throw noLongerValid()
  return reset
}

/** Sets the password, ends all sessions of the account, and makes all of its links invalid. */
export async function resetPasswordByLink(
  { db, accountEmails }: ResetParts,
  { token, password }: { token: string; password: string },
): Promise<Account> {
  const read = readToken(token)
  // Before the hash, which takes time: only the holder of a valid link may use it.
  await getReset(db, token)
  checkNewPassword(password)
  const passwordHash = await hashPassword(password)
  return db.begin(async (tx) => {
    const user = await useReset(tx, read)
    if (!user) throw noLongerValid()
    await updatePassword(tx, user, passwordHash)
    accountEmails.add(tx, user, { kind: 'password_changed' })
    return { ...user, passwordHash }
  })
}
