import type pg from 'pg'
import type { Db } from './db.ts'

const createIndex = /^create (?:unique )?index concurrently (?:if not exists )?([a-z0-9_]+) on /
const dropIndex = /^drop index concurrently if exists [a-z0-9_]+$/

/**
 * Runs the statements of a migration one by one, each as a transaction of its own. A process that was killed may have
 * left some of them done, so they are repeatable: an index that exists is skipped, and one that was not completed is
 * dropped and built again. Throws if a statement is not repeatable.
 */
export async function runConcurrently(db: Db, text: string): Promise<void> {
  const statements = splitStatements(text)
  const unknown = statements.find((statement) => !createIndex.test(statement) && !dropIndex.test(statement))
  if (unknown)
    throw new Error(`Only indexes can be created and dropped without a transaction, but the migration has: ${unknown}`)
  await using session = await db.openSession()
  for (const statement of statements) await runStatement(session.client, statement)
}

/** The same statements for an empty schema in a transaction. */
export const withoutConcurrently = (text: string): string => text.replaceAll(/\bindex concurrently\b/g, 'index')

async function runStatement(client: pg.Client, statement: string): Promise<void> {
  const index = createIndex.exec(statement)?.[1]
  const isValid = index === undefined ? undefined : await isIndexValid(client, index)
  if (isValid) return
  if (isValid === false) await client.query(`drop index concurrently ${index}`)
  await client.query(statement)
}

/** Returns undefined if there is no such index. */
async function isIndexValid(client: pg.Client, name: string): Promise<boolean | undefined> {
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [name],
  )
  return rows[0]?.valid
}

/** Statements end with a semicolon at the end of a line. */
function splitStatements(text: string): string[] {
  return text
    .replaceAll(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter(Boolean)
}
