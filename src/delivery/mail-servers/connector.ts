import type { SmtpOptions } from '@waxwing/smtp-client'
import type { Db } from '../../platform/db/db.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { AccessTokens, type Egress } from './access-tokens.ts'
import { createResolveTarget, type ResolveTarget } from './allowed-targets.ts'
import { type OAuthClient, openOAuth } from './credentials.ts'
import type { MailServerKey } from './mail-server.ts'

/**
 * What connections to mail servers of organizations need: addresses are checked like those of webhooks, and access tokens are
 * requested for OAuth 2.
 */
export class Connector {
  readonly tokens: AccessTokens
  readonly #box: SecretBox
  readonly #resolve: ResolveTarget
  readonly #ca: string | undefined

  constructor({ db, box, egress }: { db: Db; box: SecretBox; egress: Egress }) {
    this.tokens = new AccessTokens({ db, box, egress })
    this.#box = box
    this.#resolve = createResolveTarget({ allowPrivate: egress.allowPrivate, resolve: egress.lookup })
    this.#ca = egress.ca
  }

  /** Returns undefined if the OAuth 2 client was encrypted with another APP_SECRET. */
  optionsFor(server: MailServerKey & { oauth: Buffer | null }): SmtpOptions | undefined {
    const { organizationId, id, oauth } = server
    if (oauth === null) return this.#options
    const client = openOAuth(this.#box, oauth)
    return client && { ...this.#options, oauth: this.tokens.signIn({ organizationId, id, oauth }, client.user) }
  }

  /** For one connection with settings that are not stored. */
  optionsForTest(client: OAuthClient | null): SmtpOptions {
    return client ? { ...this.#options, oauth: this.tokens.signInOnce(client) } : this.#options
  }

  get #options(): SmtpOptions {
    return { resolve: this.#resolve, ca: this.#ca }
  }

  close(): void {
    this.tokens.close()
  }
}
