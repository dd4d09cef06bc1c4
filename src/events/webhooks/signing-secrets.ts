import type { Registry } from 'prom-client'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { measure } from '../../platform/runtime/measure.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { type AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import { replaceSecrets, type SealedSecrets, selectSecretsAfter, type WebhookKey } from './signing-secrets.sql.ts'

const pageSize = 1_000

export const unreadableSecret = 'the signing secret was encrypted with another APP_SECRET: rotate it'

export const webhookSecretBox = (secrets: AppSecrets): SecretBox => new SecretBox(secrets, 'webhook secrets')

/** Returns undefined if the current secret cannot be decrypted. Skips a previous secret that cannot be decrypted. */
export function openSecrets({ secret, previousSecret }: SealedSecrets, open: (sealed: Buffer) => string | undefined) {
  const current = open(secret)
  const previous = previousSecret && open(previousSecret)
  if (current === undefined) return undefined
  return previous ? [current, previous] : [current]
}

/** Reads the secrets of all webhooks in pages. */
async function* readSecrets(db: Db): AsyncGenerator<WebhookKey & SealedSecrets> {
  const pacer = new Pacer()
  let after: WebhookKey | undefined
  do {
    const rows = await selectSecretsAfter(db, after, pageSize)
    for (const row of rows) {
      if (pacer.isDue) await pacer.turn()
      yield row
    }
    after = rows.length === pageSize ? rows.at(-1) : undefined
  } while (after)
}

/** Encrypts secrets that depend on the previous APP_SECRET again, so that the previous one can be removed. */
export async function resealSecrets({ db, box }: { db: Db; box: SecretBox }): Promise<void> {
  for await (const row of readSecrets(db)) {
    const secret = box.reseal(row.secret)
    const previousSecret = row.previousSecret && box.reseal(row.previousSecret)
    if (!secret && !previousSecret) continue
    await replaceSecrets(db.statement, row, {
      secret: secret ?? row.secret,
      previousSecret: previousSecret ?? row.previousSecret,
    })
  }
}

/** Returns the webhooks whose secret can be decrypted with neither APP_SECRET. Their deliveries stay pending. */
export async function findUndecryptableSecrets({ db, box }: { db: Db; box: SecretBox }): Promise<WebhookKey[]> {
  const found: WebhookKey[] = []
  for await (const { organizationId, id, secret } of readSecrets(db))
    if (box.open(secret) === undefined) found.push({ organizationId, id })
  return found
}

/** Returns how many webhooks have a secret that can be decrypted only with APP_SECRET_PREVIOUS. */
export async function countDependentSecrets({ db, box }: { db: Db; box: SecretBox }): Promise<number> {
  let count = 0
  for await (const { secret } of readSecrets(db)) if (box.reseal(secret) !== undefined) count++
  return count
}

/** The message for the operator about so many secrets. */
export const undecryptableWarning = (count: number): string =>
  `The secrets of ${count} ${count === 1 ? 'webhook' : 'webhooks'} were encrypted with another APP_SECRET, so their deliveries stay pending. Set APP_SECRET_PREVIOUS to that secret, or rotate the secret of each webhook.`

type SecretCheckOptions = { db: Db; log: Log; box: SecretBox; isRotating: () => Promise<boolean>; metrics: Registry }

/** Keeps the secrets of webhooks readable, and reports those that are not. */
export class SecretCheck {
  readonly #options: SecretCheckOptions
  /** Undefined before the first run. */
  #undecryptable: number | undefined

  constructor(options: SecretCheckOptions) {
    this.#options = options
    const help = 'Webhooks whose secret was encrypted with another APP_SECRET. Looked up every ten minutes.'
    measure(options.metrics, 'waxwing_undecryptable_secrets', help, () => this.#undecryptable)
  }

  /** Costs a millisecond of the main thread for about a hundred webhooks, in slices. */
  async run(): Promise<void> {
    if (await this.#options.isRotating()) await resealSecrets(this.#options)
    this.#undecryptable = (await findUndecryptableSecrets(this.#options)).length
    if (this.#undecryptable > 0) this.#options.log.error(undecryptableWarning(this.#undecryptable))
  }
}
