import { type AppSecrets, deriveKey } from '../secrets.ts'
import type { Db } from './db.ts'

const markOf = (secret: string) => deriveKey(secret, 'mark in the database').toString('base64url')

/**
 * Whether the database is used with this secret. The first process to use it leaves its mark; a secret that follows
 * another by APP_SECRET_PREVIOUS takes its place.
 */
export async function isOurSecret(db: Db, { current, previous }: AppSecrets): Promise<boolean> {
  const known = [current, ...(previous ? [previous] : [])].map(markOf)
  const [row] = await db.alone<{ mark: string }>`
    insert into secret_mark (mark) values (${known[0]})
    on conflict (only_row) do update set mark = case when secret_mark.mark = any (${known}::text[]) then excluded.mark else secret_mark.mark end
    returning mark`
  return row!.mark === known[0]
}
