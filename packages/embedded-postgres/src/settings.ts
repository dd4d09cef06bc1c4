export type ServerLog = { info(fields: object, message: string): void; warn(fields: object, message: string): void }

/**
 * Settings for a small server with many short transactions and some tables used as queues. Passed on the command line
 * at every start, so that a new version of Waxwing can change them.
 */
export const embeddedSettings: Record<string, string> = {
  // Only reachable through the Unix socket.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // Above the maximum of DATABASE_CONNECTIONS and three for each sending process, with room for commands beside the service.
  max_connections: '300',
  max_logical_replication_workers: '0',
  cluster_name: 'waxwing',

  // Committed data is on disk. These are the defaults, stated explicitly because durability depends on them.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '8MB',
  maintenance_work_mem: '128MB',
  random_page_cost: '1.1',
  // All queries are short: starting parallel workers would cost more than the query.
  max_parallel_workers_per_gather: '0',

  // Limits recovery after a crash to 1 GB of WAL. A larger value would make writes faster and recovery slower.
  max_wal_size: '1GB',
  min_wal_size: '256MB',
  wal_compression: 'on',

  // The rows of queue tables are replaced many times a day: vacuum them early and in small steps.
  autovacuum_naptime: '15s',
  autovacuum_vacuum_scale_factor: '0.05',
  autovacuum_vacuum_insert_scale_factor: '0.1',
  autovacuum_analyze_scale_factor: '0.05',
  autovacuum_vacuum_cost_limit: '1000',

  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // The log is forwarded to ours. Terse and without statements, which could contain email addresses.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%b: ',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

/**
 * Errors of statements are returned to the client and logged there. Lines that start with a tab continue another line.
 */
export const isForLog = (line: string) =>
  !/^(client backend: (ERROR|WARNING)|\t)|ready to accept connections$/.test(line)

/** The server does not use TCP, so the port only determines the file name of the socket. */
const port = 5432
export const socketName = `.s.PGSQL.${port}`
export const login = { port, user: 'postgres', database: 'postgres' }

/** The value is a list, so a path that contains a comma must be quoted. */
export const quotedPath = (path: string) => `"${path.replaceAll('"', '""')}"`
