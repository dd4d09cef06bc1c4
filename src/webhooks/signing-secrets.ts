import type { Db } from '../db/db.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import { replaceSecrets, type SealedSecrets, selectAllSecrets } from './signing-secrets.sql.ts'

export const unreadableSecret = 'the signing secret was encrypted with another APP_SECRET: rotate it'

/** Returns undefined if the current secret cannot be decrypted. Skips a previous secret that cannot be decrypted. */
export function openSecrets(
  { secret, previousSecret }: SealedSecrets,
  open: (sealed: Buffer) => string | undefined,
): string[] | undefined {
  const current = open(secret)
  const previous = previousSecret && open(previousSecret)
  if (current === undefined) return undefined
  return previous ? [current, previous] : [current]
}

/**
 * Encrypts secrets that still depend on the previous APP_SECRET with the current one, so that the previous one can be
 * removed.
 */
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
