import pg from 'pg'
import type { Actor } from '../values/actor.ts'
import type { BeginOptions, Reader, Tx, Writer } from './access.ts'
import { onShards } from './cluster/shards.ts'
import { keepsPlans } from './kept-plans.ts'
import { type Listening, listen } from './listen.ts'
import { newestMigration } from './newest-migration.ts'
import { reader } from './reader.ts'
import { connectSession } from './session.ts'
import { type Sql, sql } from './sql.ts'
import { publishStatement } from './statement-channel.ts'
import { answerTimeoutMs, begin, single } from './transaction.ts'

export type { Reader, Tx, Writer }

export interface Db extends Reader {
  /** Runs `work` in one transaction, which is rolled back if `work` throws or calls `tx.rollback`. */
  begin<Result>(work: (tx: Tx) => Promise<Result>, options?: BeginOptions): Promise<Result>
  /** Begins transactions of which `actor` is the actor. */
  by(actor: Actor): Pick<Db, 'begin'>
  /** Runs each statement on any connection, as a transaction of its own, in one round trip. */
  readonly statement: Writer
  /** Like `statement`. The plan of a statement about few rows is kept for seconds: planning costs more than running. */
  forRows(rows: number): Writer
  /** Calls `listener` with what transactions of this process announced, after their commit (`Tx.announce`). */
  onAnnouncement(listener: (value: unknown) => void): void
  /** Calls `heard` for each notification until it is stopped. Reconnects automatically. */
  listen(channel: string, heard: (payload: string) => void): Promise<Listening>
  /** Opens a connection outside the pool, without timeouts: for COPY and what cannot run in a transaction. */
  openSession(): Promise<Session>
  readonly pool: pg.Pool
  /** Set once, before the database is used (`migrate`). */
  isDistributed: boolean
  /** The same database without a connection pooler, if it has an address of its own. For migrations. */
  readonly directDb: Db | undefined
  close(): Promise<void>
}

/** `statement` runs in the transaction that was begun with `client`, if any. */
export type Session = AsyncDisposable & { client: pg.Client; statement: Writer }

export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

export type DbOptions = {
  connection: Connection
  /** Address of the same database without a connection pooler. */
  direct?: Connection | undefined
  connectionsMax?: number
  applicationName?: string
  statementTimeoutMs?: number
}

const connectTimeoutMs = 5_000
const defaultStatementTimeoutMs = 30_000
/** Overrides defaults that would be parsed incorrectly. PgBouncer accepts these options and no others. */
const fixedOptions = '-c DateStyle=ISO -c IntervalStyle=postgres -c TimeZone=UTC'

// Counts and byte sizes are int8 and far below 2^53.
const int8Oid = 20
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8Oid ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

export function openDb(options: DbOptions): Db {
  const { connection, direct, connectionsMax = 10, applicationName = 'waxwing' } = options
  const { statementTimeoutMs = defaultStatementTimeoutMs } = options
  const settingsOf = (connection: Connection) => ({
    ...withFixedOptions(connection),
    // By the number, other processes know which formats this one reads (`Formats`).
    application_name: `${applicationName} (${newestMigration})`,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: answerTimeoutMs(statementTimeoutMs),
    types,
  })
  const pool = new pg.Pool({ ...settingsOf(connection), max: connectionsMax, pipeline: true })
  // A connection that breaks while idle is replaced at the next query.
  pool.on('error', () => {})
  // A broken connection may emit a second error after pg has removed its listener. The failing query reports the error.
  pool.on('connect', (client) => client.on('error', () => {}))

  const writer = (keepPlans: boolean): Writer => {
    const run = <Row>(given: Sql) => {
      const query = db.isDistributed ? onShards(given) : given
      publishStatement(query.text)
      return single<Row>(pool, query, statementTimeoutMs, keepPlans)
    }
    return Object.assign(
      <Row>(strings: TemplateStringsArray, ...values: unknown[]) => run<Row>(sql(strings, ...values)),
      { run, script: (reader(pool) as Writer).script },
    ) as Writer
  }
  const onPool = writer(false)
  const keepingPlans = writer(true)
  const directDb = direct && openDb({ ...options, connection: direct, direct: undefined })
  const directSettings = settingsOf(direct ?? connection)
  const listeners: ((value: unknown) => void)[] = []
  const announce = (value: unknown) => {
    for (const listener of listeners) listener(value)
  }
  const db: Db = Object.assign(onPool, {
    isDistributed: false,
    statement: onPool,
    forRows: (rows: number) => (keepsPlans(rows) && !db.isDistributed ? keepingPlans : onPool),
    pool,
    directDb,
    begin: <Result>(work: (tx: Tx) => Promise<Result>, options?: BeginOptions) =>
      begin(pool, work, { statementTimeoutMs, ...options }, { isDistributed: db.isDistributed, announce }),
    // By `this`, which may be a database that wraps `begin`.
    by(this: Db, actor: Actor): Pick<Db, 'begin'> {
      return { begin: (work, options) => this.begin(work, { actor, ...options }) }
    },
    onAnnouncement: (listener: (value: unknown) => void) => {
      listeners.push(listener)
    },
    listen: (channel: string, heard: (payload: string) => void) => listen(directSettings, channel, heard),
    openSession: async () => {
      const client = await connectSession(directSettings)
      return { client, statement: reader(client) as Writer, [Symbol.asyncDispose]: () => client.end() }
    },
    close: async () => {
      await Promise.all([pool.end(), directDb?.close()])
    },
  })
  return db
}

/**
 * pg uses either the parameters in the URL or ours, so options in the URL are moved in front of ours, and a name in it is
 * removed.
 */
function withFixedOptions(connection: Connection): Connection & { options: string } {
  if (!('connectionString' in connection)) return { ...connection, options: fixedOptions }
  const [address = '', query = ''] = connection.connectionString.split(/\?(.*)/s)
  const theirs = new URLSearchParams(query).getAll('options')
  // The rest is kept verbatim, because pg is strict about percent-encoding.
  const rest = query.split('&').filter((parameter) => !/^(options|application_name)=/.test(parameter))
  return { connectionString: `${address}?${rest.join('&')}`, options: [...theirs, fixedOptions].join(' ') }
}

/** Returns true if the database or the connection failed rather than the statement, so that a retry may succeed. */
export function isConnectionFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // None of several addresses could be reached.
  if (error instanceof AggregateError) return error.errors.some(isConnectionFault)
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true
  if (isLostNode(error)) return true
  // Class 08: connection; 57P0x: shutdown or startup; 53: insufficient resources; 57014: query canceled; 55P03: lock
  // not available; 25006: read-only transaction; 25P03 and 25P04: transaction timeouts; 58030: I/O error, which Citus also
  // reports if a node stops while rows are copied to it. The others are socket errors of Node.
  if (typeof code === 'string')
    return /^(08|57P0|57014|55P03|25006|25P03|25P04|53|58030|ECONN|EHOST|ENET|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EMFILE|ENFILE|ENOBUFS|EADDRNOTAVAIL|EAGAIN)/.test(
      code,
    )
  return /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  )
}

/** Citus reports an internal error if its connection to a node breaks during a command. */
function isLostNode({ message, code, where }: Error & { code?: unknown; where?: unknown }): boolean {
  return (
    code === 'XX000' &&
    /^while executing command on /.test(String(where)) &&
    /EOF detected|server closed the connection|Connection (reset|timed out)|Broken pipe/i.test(message)
  )
}

/** Returns true if the database is unavailable. Unlike a statement that takes too long, it is tried again without end. */
export const isOutage = (error: unknown): boolean => isConnectionFault(error) && !isQueryCanceled(error)

/** Returns true for deadlocks and serialization failures, which succeed when retried. */
export function isRetryable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === '40P01' || code === '40001'
}

/** Returns true for invalid data and violated constraints, which fail again when retried. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(String((error as { code?: unknown } | null)?.code))
}

/** Returns true if the statement was cancelled, usually by its timeout. */
export function isQueryCanceled(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '57014'
}

export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '23505'
}
