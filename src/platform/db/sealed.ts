import { Pacer } from '../runtime/pacer.ts'
import { type AppSecrets, SecretBox } from '../secrets/secrets.ts'
import { leastUuid } from '../values/ids.ts'
import type { Db } from './db.ts'
import { sqlOf } from './sql.ts'

/** A table, by organization and id, with columns that are encrypted with APP_SECRET. */
export type SealedTable = {
  name: string
  /** Of the key that is derived from APP_SECRET. */
  purpose: string
  /** Columns without which a row cannot be used, and others. */
  needed: readonly string[]
  others: readonly string[]
  /** Words for the operator: what is encrypted, what a row is, what cannot be done without it, and the last resort. */
  words: { values: string; row: string; consequence: string; remedy: string }
}

type Key = { organizationId: string; id: string }
type Row = Key & { values: readonly (Buffer | null)[] }

const pageSize = 500

/** Yields the rows of all organizations, without blocking the event loop for long. */
async function* readSealed(db: Db, { name, needed, others }: SealedTable): AsyncGenerator<Row> {
  const pacer = new Pacer(name)
  const [table, columns] = [sqlOf(name, []), sqlOf([...needed, ...others].join(', '), [])]
  let after: Key | undefined
  do {
    const rows = await db<Row>`
      select organization_id, id, array[${columns}] as values from ${table}
      where (organization_id, id) > (${after?.organizationId ?? leastUuid}::uuid, ${after?.id ?? leastUuid}::uuid)
      order by organization_id, id
      limit ${pageSize}`
    for (const row of rows) {
      if (pacer.isDue) await pacer.turn()
      yield row
    }
    after = rows.length === pageSize ? rows.at(-1) : undefined
  } while (after)
}

/**
 * Encrypts values that depend on the previous APP_SECRET again, so that it can be removed. A value that was changed since it was
 * read stays as it is.
 */
export async function reseal(db: Db, secrets: AppSecrets, table: SealedTable): Promise<void> {
  const box = new SecretBox(secrets, table.purpose)
  const columns = [...table.needed, ...table.others].map((column) => sqlOf(column, []))
  for await (const { organizationId, id, values } of readSealed(db, table))
    for (const [index, value] of values.entries()) {
      const resealed = value && box.reseal(value)
      if (resealed)
        await db.statement`
          update ${sqlOf(table.name, [])} set ${columns[index]} = ${resealed}
          where organization_id = ${organizationId} and id = ${id} and ${columns[index]} = ${value}`
    }
}

export type SealedCount = {
  table: SealedTable
  /** Rows that need the previous APP_SECRET. */
  dependent: number
  /** Rows that neither secret decrypts. */
  undecryptable: number
}

export async function countSealed(db: Db, secrets: AppSecrets, table: SealedTable): Promise<SealedCount> {
  const box = new SecretBox(secrets, table.purpose)
  const count = { table, dependent: 0, undecryptable: 0 }
  for await (const { values } of readSealed(db, table)) {
    const needed = values.slice(0, table.needed.length)
    if (needed.some((value) => value && box.open(value) === undefined)) count.undecryptable++
    else if (values.some((value) => value && box.reseal(value))) count.dependent++
  }
  return count
}

/** The message for the operator about rows that cannot be decrypted. */
export function undecryptableWarning({ table, undecryptable }: SealedCount): string {
  const { values, row, consequence, remedy } = table.words
  return `The ${values} of ${undecryptable} ${undecryptable === 1 ? row : `${row}s`} were encrypted with another APP_SECRET, so ${consequence}. Set APP_SECRET_PREVIOUS to that secret, or ${remedy}.`
}
