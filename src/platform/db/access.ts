import type { Actor } from '../values/actor.ts'
import type { Sql } from './sql.ts'

/** Runs queries. Column names are converted to camelCase; keys inside jsonb values stay as users wrote them. */
export interface Reader {
  /** True if the tables are distributed over several nodes (`waxwing distribute`). */
  readonly isDistributed?: boolean
  <Row = never>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>
  run<Row = never>(query: Sql): Promise<Row[]>
}

declare const writable: unique symbol
/**
 * Runs one writing statement: a transaction, or `db.statement`. A function takes a `Writer` if it runs a single
 * statement and does not rely on a lock after it returns.
 */
export interface Writer extends Reader {
  readonly [writable]: true
  /** Runs a text of several statements without parameters, for example a migration. */
  script(text: string): Promise<void>
}

declare const transactional: unique symbol
/**
 * A transaction, as passed by `db.begin`. A function takes a `Tx` if it locks rows until the end of the transaction or
 * needs several statements to be committed together.
 */
export interface Tx extends Writer {
  readonly [transactional]: true
  /** Who makes its changes, for histories. */
  readonly actor: Actor
  /**
   * Starts a statement whose rows are not needed before the commit. It is sent together with the next ones, the last with
   * the commit, so it costs no round trip. If it fails, `begin` rolls back and throws its error.
   */
  send<Row = never>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>
  /** Rolls the transaction back when the function passed to `db.begin` returns. Returns the value, for that function. */
  rollback<Value>(value: Value): Value
  /** Passes a value, or what it resolves to, to the listeners of `Db.onAnnouncement` after the commit. */
  announce(value: unknown): void
}

export type BeginOptions = {
  /** Who makes the changes: `systemActor` unless given. */
  actor?: Actor
  /** Removes the statement timeout, for work an operator waits for, such as migrations. */
  unlimited?: boolean
  /** Timeout per statement, 30 s by default. Set with `set local`, which also works through a connection pooler. */
  statementTimeoutMs?: number
  /** The number of rows that the statements are about. If they are few, their plans are kept (see `Db.forRows`). */
  rows?: number
}
