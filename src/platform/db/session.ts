import pg from 'pg'

/** Opens a connection without timeouts. */
export async function connectSession(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...settings, query_timeout: 0 })
  // The statement that is running reports the error.
  client.on('error', () => {})
  await client.connect()
  // The role or the database may have timeouts. Through a pooler, these settings would reach other clients.
  if (!(await isPooled(client)))
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
  return client
}

/** Returns true behind a pooler such as PgBouncer, which reports an id of its own instead of the process id. */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid !== (client as WithProcessId).processID
}

/** pg sets it, but its types do not declare it. */
type WithProcessId = pg.ClientBase & { processID?: number }
