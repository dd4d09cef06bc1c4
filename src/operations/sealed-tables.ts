import type { Registry } from 'prom-client'
import { domainKeys, mailServerCredentials } from '../delivery/delivery.ts'
import { exportSecrets, webhookSecrets } from '../events/events.ts'
import type { Db } from '../platform/db/db.ts'
import { countSealed, reseal, type SealedCount, undecryptableWarning } from '../platform/db/sealed.ts'
import type { Log } from '../platform/runtime/log.ts'
import { measure } from '../platform/runtime/measure.ts'
import type { AppSecrets } from '../platform/secrets/secrets.ts'

/** Everything that is encrypted with APP_SECRET and stays in the database for long. */
const sealedTables = [webhookSecrets, domainKeys, mailServerCredentials, exportSecrets]

/** Costs a millisecond of the main thread for about a hundred rows, in slices. */
export async function countAllSealed(db: Db, secrets: AppSecrets): Promise<SealedCount[]> {
  const counts: SealedCount[] = []
  for (const table of sealedTables) counts.push(await countSealed(db, secrets, table))
  return counts
}

type SecretCheckOptions = {
  db: Db
  log: Log
  secrets: AppSecrets
  isRotating: () => Promise<boolean>
  metrics: Registry
}

/** Keeps encrypted values readable, and reports those that are not. */
export class SecretCheck {
  readonly #options: SecretCheckOptions
  /** Undefined before the first run. */
  #undecryptableWebhooks: number | undefined

  constructor(options: SecretCheckOptions) {
    this.#options = options
    const help = 'Webhooks whose secret was encrypted with another APP_SECRET. Looked up every ten minutes.'
    measure(options.metrics, 'waxwing_undecryptable_secrets', help, () => this.#undecryptableWebhooks)
  }

  async run(): Promise<void> {
    const { db, log, secrets, isRotating } = this.#options
    if (await isRotating()) for (const table of sealedTables) await reseal(db, secrets, table)
    const counts = await countAllSealed(db, secrets)
    this.#undecryptableWebhooks = counts.find(({ table }) => table === webhookSecrets)?.undecryptable
    for (const count of counts) if (count.undecryptable > 0) log.error(undecryptableWarning(count))
  }
}
