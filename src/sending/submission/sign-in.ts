import { setTimeout as delay } from 'node:timers/promises'
import {
  apiKeyPattern,
  hashKey,
  hasScope,
  type KeyCache,
  type KnownKey,
  LoginThrottle,
} from '../../accounts/accounts.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { SmtpReply } from './smtp-reply.ts'

/** The user of a session: an API key that is looked up again for each email, because it may have been revoked. */
export type Sender = { find: () => Promise<KnownKey> }

export type SignedIn = { key: KnownKey; sender: Sender }

const wrongKey = () => new SmtpReply(535, '5.7.8', 'The password must be a valid API key.')
const noScope = () => new SmtpReply(535, '5.7.8', 'This API key does not have the scope messages:send.')
const revoked = () => new SmtpReply(421, '4.7.0', 'The API key is no longer valid. Sign in again.')

/** How long a client with too many failures waits for the reply, so that it does not try again and again. */
const throttledMs = 3_000

/**
 * Signs in clients with API keys. Keys have 256 random bits and cannot be guessed, so a valid key is accepted whatever other
 * clients at the same address do. It is looked up first, together with others; only failures are counted, and slowed down.
 */
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
    const find = async () => (apiKeyPattern.test(password) ? this.#keys.find(password, address) : undefined)
    const key = await find()
    if (!key) throw await this.#failureOf(password, address)
    if (!hasScope(key.scopes, 'messages:send')) throw noScope()
    return { key, sender: { find: async () => checked(await find()) } }
  }

  async #failureOf(password: string, address: string): Promise<SmtpReply> {
    try {
      await this.#throttle.attempt(hashKey(password), address, async () => undefined)
      return wrongKey()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await delay(throttledMs, undefined, { ref: false })
      return new SmtpReply(454, '4.7.0', error.message)
    }
  }
}

function checked(key: KnownKey | undefined): KnownKey {
  if (!key || !hasScope(key.scopes, 'messages:send')) throw revoked()
  return key
}
