import { Agent, request } from 'node:http'
import { type Embedded, startEmbedded } from '@waxwing/embedded-postgres'
import pg from 'pg'
import { BareSmtp } from '../support/bare-smtp.ts'
import { paced } from '../support/paced.ts'

// Does the least that an email with its webhook can cost at a given pace: one insert, one SMTP transaction, one POST and one
// update. A hit is the same without SMTP. It runs its own PostgreSQL, so that its process tree is everything it needs.

export type LeastWork = {
  smtpPort: number
  hookPort: number
  email: string
  perSecond: number
  seconds: number
  kind: 'send' | 'hit'
}

const dataDir = process.argv[2]!
const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const agent = new Agent({ keepAlive: true })
const embedded: Embedded = await startEmbedded({ dataDir, log: quiet as never })
const pool = new pg.Pool({ ...(embedded.connection as object), max: 4 })
await pool.query('create table items (id bigint generated always as identity primary key, body text, state text)')

function post(port: number, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
    request({ port, host: '127.0.0.1', method: 'POST', path: '/', agent, headers }, (response) => {
      response.resume().once('end', resolve)
    })
      .once('error', reject)
      .end(body)
  })
}

async function run({ smtpPort, hookPort, email, perSecond, seconds, kind }: LeastWork): Promise<void> {
  const smtp = await BareSmtp.open(smtpPort, 1, email)
  let sending = Promise.resolve()
  const body = JSON.stringify({ event_name: kind, data: { contact: 'ada@example.com' } })
  await paced({ perSecond, seconds }, async () => {
    const insert = { name: 'insert', text: `insert into items (body, state) values ($1, 'new') returning id` }
    const { rows } = await pool.query({ ...insert, values: [body] })
    if (kind === 'send') {
      sending = sending.then(() => smtp.send(1))
      await sending
    }
    await post(hookPort, body)
    await pool.query({ name: 'update', text: `update items set state = 'done' where id = $1`, values: [rows[0].id] })
  })
  smtp.close()
}

process.on('message', (work: LeastWork) => {
  void run(work).then(() => process.send?.('done'))
})
process.on('disconnect', () => {
  void pool
    .end()
    .then(() => embedded.stop())
    .finally(() => process.exit())
})
process.send?.('ready')
