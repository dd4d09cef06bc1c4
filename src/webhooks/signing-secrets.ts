import type { Db } from '../db/db.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import { replaceSecrets, type SealedSecrets, selectAllSecrets } from './signing-secrets.sql.ts'

export const unreadableSecret = 'the signing secret was stored with another APP_SECRET and cannot be read: rotate it'

/** Undefined when the one in use cannot be read. One that is about to go is left out when it cannot. */
export function openSecrets(
  { secret, previousSecret }: SealedSecrets,
  open: (sealed: Buffer) => string | undefined,
): string[] | undefined {
  const current = open(secret)
  const previous = previousSecret && open(previousSecret)
  if (current === undefined) return undefined
  return previous ? [current, previous] : [current]
}

/** Stores under the current APP_SECRET what still hangs on the one before, so that that one can be dropped. */
export async function resealSecrets({ db, box }: { db: Db; box: SecretBox }): Promise<void> {
  for (const row of await selectAllSecrets(db)) {
    const secret = box.reseal(row.secret)
    const previousSecret = row.previousSecret && box.reseal(row.previousSecret)
    if (!secret && !previousSecret) continue
    await replaceSecrets(db.statement, row, {
      secret: secret ?? row.secret,
      previousSecret: previousSecret ?? row.previousSecret,
    })
  }
}
