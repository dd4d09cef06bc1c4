import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Db } from '../../src/platform/db/db.ts'
import { type StartedStatement, statementChannelName } from '../../src/platform/db/statement-channel.ts'

/** Collects the texts of all statements that are started. */
export function collectStatements() {
  const texts: string[] = []
  const collect = (message: unknown) => texts.push((message as StartedStatement).text)
  subscribe(statementChannelName, collect)
  return { texts, [Symbol.dispose]: () => unsubscribe(statementChannelName, collect) }
}

/**
 * Sends the statements for a distributed database to one that is not, which gives the same results. Organizations are
 * assigned to two nodes.
 */
export async function asDistributed(db: Db): Promise<Db> {
  if (db.isDistributed) return db
  await db.statement.script(`
    create table pg_dist_placement (shardid int8, groupid int4);
    insert into pg_dist_placement values (0, 1), (1, 2);
    create function get_shard_id_for_distribution_column(text, id uuid) returns int8 language sql
    as 'select (hashtext(id::text) & 1)::int8'`)
  Object.defineProperty(db, 'isDistributed', { get: () => true, set: () => {} })
  return db
}
