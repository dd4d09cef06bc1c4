import type { Db, Reader, Writer } from './db.ts'
import { newestMigration } from './newest-migration.ts'
import { firstValue, onlyValue } from './rows.ts'
import { isPooled } from './session.ts'

/**
 * After so many checks in a row without an older process there is none. One whose connections were lost, for example when
 * another database server took over, has opened them again by then.
 */
export const checksMin = 30

/**
 * Which formats may be written: those that every running process can read (docs/decisions/formats.md). A process that does
 * not know a migration cannot start after it, so once all processes know it, they always will.
 */
export class Formats {
  readonly #db: Db
  #known = 0
  #checksWithoutOlder = 0

  constructor(db: Db) {
    this.#db = db
  }

  /** `since`: the number of the migration that came with the format. Until then, write what the previous release reads. */
  mayWrite(since: number): boolean {
    return this.#known >= since
  }

  async load(): Promise<void> {
    this.#known =
      (await firstValue(this.#db<{ number: number }>`
        select number from schema_migrations where known_by_all order by number desc limit 1`)) ?? 0
  }

  /** Must be called regularly. Does nothing as soon as all formats of this process may be written. */
  async check(): Promise<void> {
    if (this.mayWrite(newestMigration)) return
    await this.load()
    if (this.mayWrite(newestMigration)) return
    const checks = this.#checksWithoutOlder
    this.#checksWithoutOlder = 0
    if (!(await isWithoutOlder(this.#db))) return
    this.#checksWithoutOlder = checks + 1
    if (this.#checksWithoutOlder < checksMin) return
    await markKnownByAll(this.#db.statement)
    await this.load()
  }
}

export const markKnownByAll = (db: Writer) =>
  db`update schema_migrations set known_by_all = true where number <= ${newestMigration} and not known_by_all`

/**
 * Returns true if all processes that use the database know the migrations of this one. Each has a session of its own that
 * listens to hints, unless it has only the address of a connection pooler; then the answer is no.
 */
async function isWithoutOlder(db: Db): Promise<boolean> {
  await using session = await db.openSession()
  return !(await isPooled(session.client)) && (await onlyValue(areSessionsNew(session.statement)))
}

/**
 * The names of sessions contain the number of the newest migration (`openDb`), unless they are older than that. If some
 * proxy changes them, this session is not new either.
 */
const areSessionsNew = (db: Reader) =>
  db<{ areNew: boolean }>`
    select coalesce(bool_and(known >= ${newestMigration}), false) as are_new
    from (
      select coalesce(substring(application_name from '[(]([0-9]+)[)]')::int, 0) as known
      from pg_stat_activity
      where datname = current_database()
        and (application_name like 'waxwing%' or query = 'listen "waxwing_jobs"' or pid = pg_backend_pid())
    ) as sessions`
