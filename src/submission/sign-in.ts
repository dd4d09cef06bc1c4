import { apiKeyPattern, hashKey, type KeyCache, type KnownKey } from '../accounts/key-cache.ts'
import { hasScope } from '../accounts/scopes.ts'
import { LoginThrottle } from '../accounts/throttle.ts'
import { Refusal } from '../values/errors.ts'
import { SmtpReply } from './smtp-reply.ts'

/** The user of a session: an API key that is looked up again for each email, because it may have been revoked. */
export type Sender = { find: () => Promise<KnownKey> }

export type SignedIn = { key: KnownKey; sender: Sender }

const wrongKey = () => new SmtpReply(535, '5.7.8', 'The password must be a valid API key.')
const noScope = () => new SmtpReply(535, '5.7.8', 'This API key does not have the scope messages:send.')
const revoked = () => new SmtpReply(421, '4.7.0', 'The API key is no longer valid. Sign in again.')

/** Signs in clients with API keys. Keys have 256 random bits; failed attempts are limited to protect the database. */
export class SignIn {
  readonly #keys: KeyCache
  readonly #throttle = new LoginThrottle()

  constructor(keys: KeyCache) {
    this.#keys = keys
  }

  /**
   * Returns the key and its sender. The user name can be anything. Throws `SmtpReply` if the password is not an API key that
   * may send email.
   */
  async signIn(password: string, address: string): Promise<SignedIn> {
    const find = async () => (apiKeyPattern.test(password) ? this.#keys.find(password) : undefined)
    // Counted by key as well, so that one program with a wrong key does not lock out others at the same address.
    const key = await this.#throttle.attempt(hashKey(password), address, find).catch((error: unknown) => {
      if (error instanceof Refusal && error.type === 'rate_limited') throw new SmtpReply(454, '4.7.0', error.message)
      throw error
    })
    if (!key) throw wrongKey()
    if (!hasScope(key.scopes, 'messages:send')) throw noScope()
    return { key, sender: { find: async () => checked(await find()) } }
  }
}

function checked(key: KnownKey | undefined): KnownKey {
  if (!key || !hasScope(key.scopes, 'messages:send')) throw revoked()
  return key
}
