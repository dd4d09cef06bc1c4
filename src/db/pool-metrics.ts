import { Gauge, type Registry } from 'prom-client'
import type { Db } from './db.ts'
import type { Replica } from './replica.ts'

/** Registers gauges of the connection pool of this process. */
export function measurePool({ pool }: Db, registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('waxwing_database_connections_max', 'Limit of the connection pool.', () => pool.options.max)
  gauge(
    'waxwing_database_connections_in_use',
    'Database connections that run a statement or a transaction.',
    () => pool.totalCount - pool.idleCount,
  )
  gauge(
    'waxwing_database_connections_waiting',
    'Statements and transactions waiting for a database connection.',
    () => pool.waitingCount,
  )
}

export function measureReplica(replica: Replica, registry: Registry): void {
  new Gauge({
    name: 'waxwing_database_replica_lag_seconds',
    help: 'How old the data of the replica may be. Infinite until it was compared with the primary.',
    registers: [registry],
    collect() {
      this.set(replica.lagMs / 1_000)
    },
  })
}
