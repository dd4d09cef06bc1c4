import type { Registry } from 'prom-client'
import { measure } from '../runtime/measure.ts'
import type { Db } from './db.ts'

/** Registers gauges of the connection pool of this process. */
export function measurePool({ pool }: Db, registry: Registry): void {
  const name = 'waxwing_database_connections'
  const waiting = 'Statements and transactions waiting for a database connection.'
  const inUse = 'Database connections that run a statement or a transaction.'
  measure(registry, `${name}_max`, 'Limit of the connection pool.', () => pool.options.max)
  measure(registry, `${name}_in_use`, inUse, () => pool.totalCount - pool.idleCount)
  measure(registry, `${name}_waiting`, waiting, () => pool.waitingCount)
}
