import { jwtVerify, SignJWT } from 'jose'
import type { OrganizationId, UserId } from '../ids.ts'
import { type AppSecrets, deriveKey } from '../secrets.ts'

const lifetimeSeconds = 12 * 60 * 60
const issuer = 'waxwing'

export type Session = { userId: UserId; organizationId: OrganizationId }

/** The JWTs of the management API: HS256 and nothing else, twelve hours. */
export class Sessions {
  readonly #current: Buffer
  readonly #keys: Buffer[]

  constructor(secrets: AppSecrets) {
    this.#current = deriveKey(secrets.current, 'session')
    this.#keys = secrets.previous ? [this.#current, deriveKey(secrets.previous, 'session')] : [this.#current]
  }

  async issue({ userId, organizationId }: Session): Promise<{ token: string; expiresAt: Date }> {
    const issuedAt = Math.floor(Date.now() / 1000)
    const token = await new SignJWT({ org: organizationId })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(userId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetimeSeconds)
      .sign(this.#current)
    return { token, expiresAt: new Date((issuedAt + lifetimeSeconds) * 1000) }
  }

  async verify(token: string): Promise<Session | undefined> {
    for (const key of this.#keys) {
      const verified = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        issuer,
        requiredClaims: ['sub', 'org', 'exp'],
      }).catch(() => undefined)
      if (verified)
        return { userId: verified.payload.sub as UserId, organizationId: verified.payload.org as OrganizationId }
    }
    return undefined
  }
}
