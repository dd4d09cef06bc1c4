import type pg from 'pg'
import type { Db } from './db.ts'

const createIndex = /^create (?:unique )?index concurrently (?:if not exists )?([a-z0-9_]+) on ([a-z0-9_]+) /
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
  const [, index, table] = createIndex.exec(statement) ?? []
  const isValid = index === undefined ? undefined : await isIndexValid(client, index)
  if (isValid) return
  if (index !== undefined && table !== undefined && (await isPartitioned(client, table)))
    return createOnPartitions(client, { statement, index, table })
  if (isValid === false) await client.query(`drop index concurrently ${index}`)
  await client.query(statement)
}

type PartitionedIndex = { statement: string; index: string; table: string }

/**
 * PostgreSQL builds the index of a partitioned table only while writers are blocked. So each partition gets an index of
 * its own, built concurrently. The index of the table becomes valid when those of all partitions are attached to it.
 */
async function createOnPartitions(client: pg.Client, { statement, index, table }: PartitionedIndex): Promise<void> {
  const tableIndex = withoutConcurrently(statement).replace(` on ${table} `, ` on only ${table} `)
  if ((await isIndexValid(client, index)) === undefined) await client.query(tableIndex)
  const { rows: partitions } = await client.query<{ name: string; indexed: boolean }>(
    `select partition.relname as name, exists (
       select from pg_inherits as attached
       join pg_index on pg_index.indexrelid = attached.inhrelid
       where attached.inhparent = to_regclass($1) and pg_index.indrelid = partition.oid) as indexed
     from pg_inherits
     join pg_class as partition on partition.oid = inhrelid
     where inhparent = to_regclass($2)`,
    [index, table],
  )
  for (const { name } of partitions.filter(({ indexed }) => !indexed)) {
    const partitionIndex = name.replace(table, index)
    const build = statement.replace(` ${index} on ${table} `, ` ${partitionIndex} on ${name} `)
    await runStatement(client, build)
    await client.query(`alter index ${index} attach partition ${partitionIndex}`)
  }
}

async function isPartitioned(client: pg.Client, table: string): Promise<boolean> {
  const { rows } = await client.query<{ partitioned: boolean }>(
    "select relkind = 'p' as partitioned from pg_class where oid = to_regclass($1)",
    [table],
  )
  return rows[0]?.partitioned ?? false
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
export function splitStatements(text: string): string[] {
  return text
    .replaceAll(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter(Boolean)
}
