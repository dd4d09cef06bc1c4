import type { Db, Writer } from '../../db/db.ts'

/**
 * Binds a signature to its content until `expiresAt`. Returns false if it was bound to other content before, by any
 * process.
 */
export async function claimSignature(
  db: Writer,
  { signature, content, expiresAt }: { signature: Buffer; content: Buffer; expiresAt: Date },
): Promise<boolean> {
  const [row] = await db<{ isSame: boolean }>`
    insert into provider_signatures (signature, content, expires_at)
    values (${signature}, ${content}, ${expiresAt})
    on conflict (signature) do update set content = provider_signatures.content
    returning content = ${content} as is_same`
  return row!.isSame
}

/** Expired signatures are rejected by their age, so they need not be stored. */
export async function deleteExpiredSignatures(db: Db): Promise<void> {
  await db.statement`delete from provider_signatures where expires_at < now()`
}
