import pg from 'pg'

/** A connection outside the pool. */
export type Session = AsyncDisposable & { client: pg.Client }

export async function openSession(settings: pg.ClientConfig): Promise<Session> {
  const client = new pg.Client({ ...settings, query_timeout: 0 })
  // The statement that is running reports the error.
  client.on('error', () => {})
  await client.connect()
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set enable_seqscan = on')
  return { client, [Symbol.asyncDispose]: () => client.end() }
}
