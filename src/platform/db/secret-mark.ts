import { type AppSecrets, deriveKey } from '../secrets/secrets.ts'
import type { Db } from './db.ts'

const markOf = (secret: string) => deriveKey(secret, 'mark in the database').toString('base64url')

/** Returns false if the database is used with another secret. Changes nothing. */
export async function isMarkedWith(db: Db, { current, previous }: AppSecrets): Promise<boolean> {
  const [row] = await db<{ mark: string }>`select mark from secret_mark`
  return !row || [current, previous].some((secret) => secret !== undefined && markOf(secret) === row.mark)
}

/**
 * Returns the time when this database was first used with the current secret, or undefined if it is used with another
 * one. The first process stores a fingerprint of its secret. It is replaced when APP_SECRET_PREVIOUS matches the stored
 * one.
 */
export async function markSecret(db: Db, { current, previous }: AppSecrets): Promise<Date | undefined> {
  const mark = markOf(current)
  const replaceable = previous ? markOf(previous) : mark
  const [row] = await db.statement<{ mark: string; since: Date }>`
    insert into secret_mark (mark) values (${mark})
    on conflict (only_row) do update set
      mark = case when secret_mark.mark = ${replaceable} then excluded.mark else secret_mark.mark end,
      since = case when secret_mark.mark = ${replaceable} and secret_mark.mark <> excluded.mark then now() else secret_mark.since end
    returning mark, since`
  return row!.mark === mark ? row!.since : undefined
}

/** Returns true if this database is used with the current secret, or with none yet. */
export const isMarked = (db: Db, { current }: AppSecrets) => isMarkedWith(db, { current, previous: undefined })
