export type ServerLog = { info(fields: object, message: string): void; warn(fields: object, message: string): void }

/**
 * How the embedded PostgreSQL runs: one small server, many short transactions, some tables that work as queues.
 * Given on the command line at every start, so that a new version of Waxwing brings its settings along.
 */
export const embeddedSettings: Record<string, string> = {
  // Reachable by the unix socket alone.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // More than DATABASE_CONNECTIONS may be, with room for commands beside the service.
  max_connections: '250',
  max_logical_replication_workers: '0',
  cluster_name: 'waxwing',

  // What was acknowledged is on the disk. These are the defaults, written down because everything rests on them.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  random_page_cost: '1.1',
  // Every query here is short: starting workers for one would cost more than the query.
  max_parallel_workers_per_gather: '0',

  // 1 GB of log at most lies between a crash and the next start; more would be faster to write and slower to recover.
  max_wal_size: '1GB',
  min_wal_size: '256MB',
  wal_compression: 'on',

  // Queue tables turn over many times a day: clean them early and in small portions.
  autovacuum_naptime: '15s',
  autovacuum_vacuum_scale_factor: '0.05',
  autovacuum_vacuum_insert_scale_factor: '0.1',
  autovacuum_analyze_scale_factor: '0.05',
  autovacuum_vacuum_cost_limit: '1000',

  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // The log goes through the pipe into ours. Terse and without statements: these would carry people's addresses.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%b: ',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

/** A statement that fails is an answer to the one who sent it, and logged there. Lines with a tab continue another. */
export const isForLog = (line: string) =>
  !/^(client backend: (ERROR|WARNING)|\t)|ready to accept connections$/.test(line)

/** There is no TCP, so the port does no more than name the socket's file. */
const port = 5432
export const socketName = `.s.PGSQL.${port}`
export const login = { port, user: 'postgres', database: 'postgres' }

/** The value is a list, so a path with a comma in it needs quotes. */
export const quotedPath = (path: string) => `"${path.replaceAll('"', '""')}"`
