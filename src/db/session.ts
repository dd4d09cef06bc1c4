import pg from 'pg'

export async function connectSession(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...settings, query_timeout: 0 })
  // The statement that is running reports the error.
  client.on('error', () => {})
  await client.connect()
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
  return client
}
