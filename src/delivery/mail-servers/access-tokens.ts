import type { OAuthSignIn } from '@waxwing/smtp-client'
import type { Db } from '../../platform/db/db.ts'
import { type PostOutcome, reasonInWords } from '../../platform/egress/post-outcome.ts'
import type { SafePost, SafePostOptions } from '../../platform/egress/safe-post.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { type OAuthClient, openOAuth, sealOAuth, unreadableCredentials } from './credentials.ts'
import type { MailServerKey } from './mail-server.ts'
import { findOAuth, replaceOAuth } from './mail-servers.sql.ts'

/** The answer is at most 16 KiB (`answerBytesMax`). */
const requestMsMax = 8_000
const anyStatus = { acknowledge: '2xx', retry4xx: [] } as const
/** A token is replaced this long before it expires. */
const marginSeconds = 120
const usualSeconds = 3_600
const tokensMax = 10_000
const reasonLengthMax = 300

type Token = { accessToken: string; expiresInSeconds: number; refreshToken: string | undefined }

/** A mail server with its encrypted client. */
export type OAuthServer = MailServerKey & { oauth: Buffer }

export type Egress = Omit<SafePostOptions, 'timeoutMs'>

/**
 * Access tokens of OAuth 2, requested with the refresh tokens of mail servers. A token is kept in memory until shortly
 * before it expires, and requested once at a time for each mail server.
 */
export class AccessTokens {
  readonly #db: Db
  readonly #box: SecretBox
  readonly #egress: Egress
  readonly #tokens = createCache<string, string, OAuthServer>(tokensMax, {
    fetchMethod: (name, _last, { context }) => this.#renew(context, name),
  })
  #safePost: SafePost | undefined

  constructor({ db, box, egress }: { db: Db; box: SecretBox; egress: Egress }) {
    this.#db = db
    this.#box = box
    this.#egress = egress
  }

  /** For the connections of a stored mail server. */
  signIn(server: OAuthServer, user: string): OAuthSignIn {
    return {
      user,
      accessToken: () => this.#tokens.forceFetch(nameOf(server), { context: server }),
      onRejected: () => this.forget(server),
    }
  }

  /** For one connection with settings that are not stored. */
  signInOnce(client: OAuthClient): OAuthSignIn {
    return { user: client.user, accessToken: async () => (await this.#request(client)).accessToken }
  }

  /** The next connection requests a new token. */
  forget(server: OAuthServer): void {
    this.#tokens.delete(nameOf(server))
  }

  close(): void {
    this.#safePost?.close()
  }

  /** The client is read again, because another process may have stored a new refresh token. */
  async #renew(key: MailServerKey, name: string): Promise<string> {
    const sealed = (await findOAuth(this.#db, key))?.oauth
    const client = sealed && openOAuth(this.#box, sealed)
    if (!client) throw new Error(unreadableCredentials)
    const { accessToken, expiresInSeconds, refreshToken } = await this.#request(client)
    this.#tokens.set(name, accessToken, { ttl: Math.max(1, expiresInSeconds - marginSeconds) * 1000 })
    if (refreshToken !== undefined && refreshToken !== client.refreshToken) {
      const after = sealOAuth(this.#box, { ...client, refreshToken })
      await replaceOAuth(this.#db.statement, key, { before: sealed, after })
    }
    return accessToken
  }

  /** Loaded here, because few mail servers need tokens, and undici takes 10 MB of each sending process. */
  async #client(): Promise<SafePost> {
    const { createSafePost } = await import('../../platform/egress/safe-post.ts')
    this.#safePost ??= createSafePost({ ...this.#egress, timeoutMs: requestMsMax })
    return this.#safePost
  }

  /** Throws an error with the words of the provider, without secrets. */
  async #request(client: OAuthClient): Promise<Token> {
    const safePost = await this.#client()
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: client.clientId,
      client_secret: client.clientSecret,
      refresh_token: client.refreshToken,
      ...(client.scope && { scope: client.scope }),
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
    const outcome = await safePost.post(client.tokenUrl, headers, body.toString(), anyStatus)
    const token = outcome.kind === 'acknowledged' ? tokenOf(fieldsOf(outcome.responseBody)) : undefined
    if (token) return token
    throw new Error(`No access token from ${new URL(client.tokenUrl).host}: ${reasonOf(outcome, client)}`)
  }
}

/** Differs for another client: each encryption starts with random bytes. */
const nameOf = ({ id, oauth }: OAuthServer) => `${id} ${oauth.toString('hex', 0, 12)}`

function tokenOf(fields: Record<string, unknown>): Token | undefined {
  const { access_token: accessToken, expires_in: expiresIn, refresh_token: refreshToken } = fields
  // A control character would end the command or the field in which it is sent.
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken)) return undefined
  return {
    accessToken,
    expiresInSeconds: Number(expiresIn) > 0 ? Number(expiresIn) : usualSeconds,
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
  }
}

function fieldsOf(body: string | null): Record<string, unknown> {
  try {
    return Object(JSON.parse(body ?? '')) as Record<string, unknown>
  } catch {
    return {}
  }
}

const secretLengthMin = 4

/** `error` and `error_description` of RFC 6749, after the status. */
function reasonOf(outcome: PostOutcome, { clientSecret, refreshToken }: OAuthClient): string {
  const { error, error_description: description } = fieldsOf(outcome.responseBody)
  const status = outcome.kind === 'acknowledged' ? 'the response has no access token' : statusOf(outcome)
  const words = [error, description].filter((text) => typeof text === 'string')
  const secrets = [clientSecret, refreshToken].filter(({ length }) => length >= secretLengthMin)
  return secrets
    .reduce((text, secret) => text.replaceAll(secret, '…'), [status, ...words].join(': '))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, reasonLengthMax)
}

const statusOf = (outcome: PostOutcome) =>
  'statusCode' in outcome ? `it answered ${outcome.statusCode}` : reasonInWords(outcome)
