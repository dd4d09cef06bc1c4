import type pg from 'pg'
import { currentSection, enterSection } from '../runtime/event-loop.ts'
import { type Actor, systemActor } from '../values/actor.ts'
import { dayMs } from '../values/durations.ts'
import type { BeginOptions, Tx } from './access.ts'
import { cancelStatement } from './cancel-statement.ts'
import { gatherWrites } from './gather-writes.ts'
import { discardOldPlans, keepsPlans } from './kept-plans.ts'
import { type ReaderOptions, reader } from './reader.ts'
import type { Sql } from './sql.ts'

const idleInTransactionTimeoutMs = 30_000
const unlimitedAnswerTimeoutMs = dayMs
/** The client gives up this much later than the server cancels the statement: by then the connection must be broken. */
const answerMarginMs = 6_000
export const answerTimeoutMs = (statementTimeoutMs: number): number => statementTimeoutMs + answerMarginMs
const readOnlyTransaction = '25006'
/** Thrown by pg. */
const readTimeoutMessage = 'Query read timeout'

/** Runs `work` in one transaction, which is rolled back if `work` throws or calls `tx.rollback`. */
export async function begin<Result>(
  pool: pg.Pool,
  work: (tx: Tx) => Promise<Result>,
  {
    actor = systemActor,
    unlimited = false,
    statementTimeoutMs,
    rows,
  }: Required<Pick<BeginOptions, 'statementTimeoutMs'>> & BeginOptions,
  { isDistributed, announce }: { isDistributed: boolean; announce: (value: unknown) => void },
): Promise<Result> {
  const section = currentSection()
  const keepPlans = keepsPlans(rows) && !isDistributed
  return onConnection(pool, async (client, lose) => {
    let ended: Promise<unknown> | undefined
    const answerWithinMs = unlimited ? unlimitedAnswerTimeoutMs : answerTimeoutMs(statementTimeoutMs)
    const tx = transaction(client, actor, { answerWithinMs, keepPlans, isDistributed })
    try {
      // Sent together with the first statement. If it fails, so does that one.
      gatherWrites(client)
      client.query(beginText(client, unlimited ? 0 : statementTimeoutMs, keepPlans, isDistributed)).catch(tx.fail)
      const result = await work(tx)
      if (tx.isRolledBack) {
        ended = client.query('rollback')
        await ended
        enterSection(section)
        return result
      }
      gatherWrites(client)
      ended = client.query('commit')
      // The commit of a transaction in which a statement has failed is a rollback, also if its answer is lost. It has no error of
      // its own.
      await ended.catch(tx.fail)
      if (tx.failed.first) throw tx.failed.first.error
      // It is committed, so this must not fail. What is not announced is found by polling.
      for (const announced of await Promise.allSettled(tx.announced))
        if (announced.status === 'fulfilled') announce(announced.value)
      enterSection(section)
      return result
    } catch (error) {
      if (isReadTimeout(error)) {
        await abandon(client, error, lose)
        throw error
      }
      ended ??= client.query('rollback')
      await ended.catch(lose)
      throw error
    }
  })
}

/** Runs one statement as a transaction of its own, in one round trip. */
export function single<Row>(pool: pg.Pool, query: Sql, statementTimeoutMs: number, keepPlans: boolean): Promise<Row[]> {
  const section = currentSection()
  return onConnection(pool, async (client, lose) => {
    gatherWrites(client)
    client.query(beginText(client, statementTimeoutMs, keepPlans)).catch(() => {})
    const answer = reader(client, { keepPlans }).run<Row>(query)
    const ended = client.query('commit')
    try {
      const rows = await answer
      await ended
      enterSection(section)
      return rows
    } catch (error) {
      const isEnded = ended.catch(lose)
      if (isReadTimeout(error)) await abandon(client, error, lose)
      // The connection is reused when the transaction has ended.
      else await isEnded
      throw error
    }
  })
}

const isReadTimeout = (error: unknown): error is Error => error instanceof Error && error.message === readTimeoutMessage

/** Drops a connection that did not answer. Anything sent on it would wait behind the statement. */
async function abandon(client: pg.PoolClient, error: Error, lose: (error: Error) => void): Promise<void> {
  lose(error)
  await cancelStatement(client)
}

/**
 * Runs `work` with a connection of the pool. A connection that breaks, or for which `lose` is called, is closed. So is a
 * read-only one: it stays read-only when the database is writable again, or when another server is the primary.
 */
async function onConnection<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, lose: (error: Error) => void) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  // Without a listener, a connection lost between two statements would terminate the process.
  const lose = (error: Error) => {
    broken = error
  }
  client.on('error', lose)
  try {
    return await work(client, lose)
  } catch (error) {
    if (isReadOnly(error)) lose(error as Error)
    throw error
  } finally {
    client.off('error', lose)
    client.release(broken)
  }
}

/** Returns true if a statement was rejected because the connection is read-only. */
export const isReadOnly = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === readOnlyTransaction

type SendingTx = Tx & {
  announced: unknown[]
  isRolledBack: boolean
  failed: { first: { error: unknown } | undefined }
  /**
   * Returns the first error. Answers arrive in the order of the statements, whichever of them `work` awaits. After a failed
   * statement the following ones fail as well, because the transaction is aborted or the connection lost.
   */
  fail: (error: unknown) => unknown
}

function transaction(client: pg.PoolClient, actor: Actor, options: ReaderOptions): SendingTx {
  const announced: unknown[] = []
  const failed = { first: undefined as { error: unknown } | undefined }
  const fail = (error: unknown) => {
    failed.first ??= { error }
    return failed.first.error
  }
  const onClient = reader(client, { ...options, beforeQuery: () => gatherWrites(client), causeOf: fail })
  const send = <Row>(strings: TemplateStringsArray, ...values: unknown[]) => {
    const sending = onClient<Row>(strings, ...values)
    sending.catch(() => {})
    return sending
  }
  const announce = (value: unknown) => {
    announced.push(value)
  }
  const rollback = <Value>(value: Value): Value => {
    tx.isRolledBack = true
    return value
  }
  const { isDistributed } = options
  const tx = Object.assign(onClient, {
    actor,
    send,
    announce,
    announced,
    rollback,
    isRolledBack: false,
    isDistributed,
    failed,
    fail,
  })
  return tx as SendingTx
}

/**
 * Settings apply to one transaction. A connection pooler such as PgBouncer rejects them at the start of a connection, and
 * settings of a session would reach other clients. JIT compilation costs more than it saves for short statements.
 */
function beginText(client: pg.ClientBase, statementTimeoutMs: number, keepPlans: boolean, isDistributed = false) {
  const settings = `set local statement_timeout = ${Math.ceil(statementTimeoutMs)}; set local idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}; set local jit = off`
  if (isDistributed) return `begin; ${settings}; ${oneConnectionPerNode}`
  if (!keepPlans) return `begin; ${settings}`
  return `${discardOldPlans(client)}begin; ${settings}; set local plan_cache_mode = force_generic_plan`
}

/**
 * The rows of a statement are then written one shard after the other, in the order of the shards, so that transactions
 * on one node lock rows in the same order. Also saves connections between the nodes.
 */
const oneConnectionPerNode = `set local citus.multi_shard_modify_mode = 'sequential'`
