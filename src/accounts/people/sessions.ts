import { hash } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { type AppSecrets, deriveKey } from '../../platform/secrets/secrets.ts'
import type { OrganizationId, SessionId, UserId } from '../../platform/values/ids.ts'
import type { Account } from './accounts.sql.ts'

const lifetimeSeconds = 12 * 60 * 60
const issuer = 'waxwing'

export type Session = {
  userId: UserId
  organizationId: OrganizationId
  /** A fingerprint of the password hash: a session ends when the password is changed. */
  passwordMark: string
  /** The epoch of the user when the session was created: a session ends when it is incremented. */
  epoch: number
  /** The row of the session. Undefined for tokens from before sessions were stored. */
  id: SessionId | undefined
}

const markLength = 16

/** Differs for every password of an account and reveals nothing about it. */
export const passwordMark = ({ passwordHash }: Account) =>
  hash('sha256', passwordHash, 'base64url').slice(0, markLength)

/** Issues and verifies the JWTs of the management API: HS256 only, valid for twelve hours. */
export class Sessions {
  readonly #current: Buffer
  readonly #previous: Buffer | undefined
  /** Seconds. Zero if unknown, so that no session of the previous secret is accepted. */
  readonly #currentSince: number

  constructor(secrets: AppSecrets) {
    this.#current = deriveKey(secrets.current, 'session')
    this.#previous = secrets.previous ? deriveKey(secrets.previous, 'session') : undefined
    this.#currentSince = (secrets.currentSince?.getTime() ?? 0) / 1000
  }

  async issue(account: Account, id: SessionId): Promise<{ token: string; expiresAt: Date }> {
    const issuedAt = Math.floor(Date.now() / 1000)
    const token = await new SignJWT({
      org: account.organizationId,
      pwd: passwordMark(account),
      epo: account.sessionEpoch,
      sid: id,
    })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(account.id)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetimeSeconds)
      .sign(this.#current)
    return { token, expiresAt: new Date((issuedAt + lifetimeSeconds) * 1000) }
  }

  async verify(token: string): Promise<Session | undefined> {
    for (const key of [this.#current, this.#previous]) {
      if (!key) continue
      // `maxTokenAge` applies in addition to `exp`: longer lifetimes are never issued.
      const verified = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        issuer,
        requiredClaims: ['sub', 'org', 'pwd', 'exp', 'iat'],
        maxTokenAge: lifetimeSeconds,
      }).catch(() => undefined)
      if (!verified) continue
      // The time of the rotation, not of the start of this process: a restart must not extend the use of a leaked
      // secret.
      if (key === this.#previous && verified.payload.iat! > this.#currentSince) continue
      const { sub, org, pwd, epo, sid } = verified.payload
      return {
        userId: sub as UserId,
        organizationId: org as OrganizationId,
        passwordMark: pwd as string,
        // Tokens issued before epochs were introduced have epoch 0.
        epoch: typeof epo === 'number' ? epo : 0,
        id: sid as SessionId | undefined,
      }
    }
    return undefined
  }
}
