import type { Db, Writer } from '../../../platform/db/db.ts'
import { onlyValue } from '../../../platform/db/rows.ts'

/**
 * Binds a signature to its content until `expiresAt`. Returns false if it was bound to other content before, by any
 * process.
 */
export const claimSignature = (
  db: Writer,
  { signature, content, expiresAt }: { signature: Buffer; content: Buffer; expiresAt: Date },
) =>
  onlyValue(db<{ isSame: boolean }>`
    insert into provider_signatures (signature, content, expires_at)
    values (${signature}, ${content}, ${expiresAt})
    on conflict (signature) do update set content = provider_signatures.content
    returning content = ${content} as is_same`)

/** Expired signatures are rejected by their age, so they need not be stored. */
export const deleteExpiredSignatures = (db: Db) =>
  db.statement`delete from provider_signatures where expires_at < now()`
