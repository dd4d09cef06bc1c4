import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { signWebhook } from '@waxwing/sdk'
import { Pool } from 'undici'
import { createSafePost } from '../src/webhooks/safe-post.ts'

// Signed https posts over loopback, against a bare undici Pool: one that posts the same bytes over and over, and one that
// signs each post as well. Neither has a time limit, checks an address or looks at the answer. The rounds alternate, and the
// receiver has a process of its own.

const concurrency = 16
const postsPerRound = 10_000
const rounds = 15

const certificates = new URL('../../test/support/certificates/', import.meta.url)
const pem = (name: string) => readFileSync(new URL(name, certificates), 'utf8')
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = JSON.stringify({
  event_name: 'emailClick',
  organization_id: 'org_01jh0000000000000000000000',
  timestamp: 1767225600,
  data: {
    event_id: 'evt_01jh0000000000000000000000',
    message_id: 'msg_01jh0000000000000000000000',
    flow_id: 'flw_01jh0000000000000000000000',
    contact: { id: 'con_01jh0000000000000000000000', email: 'ada@example.com', first_name: 'Ada' },
    machine: false,
    user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    url: 'https://example.com/orders/1042?utm_source=email',
  },
})
const sign = (id: number) => ({
  'Content-Type': 'application/json',
  'X-Service-Event': 'emailClick',
  ...signWebhook({ id: `dlv_${id}`, timestamp: Math.floor(Date.now() / 1000), body, secrets: [secret] }),
})

if (process.argv[2] === 'receiver') receive()
else await compare()

/** Answers 200 as cheaply as it can. */
function receive(): void {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const server = createServer(
    { cert: pem('webhook-receiver.pem'), key: pem('webhook-receiver-key.pem') },
    (socket: TLSSocket) => {
      let text = ''
      socket.setNoDelay(true).on('error', () => {})
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1')
        const end = text.indexOf('\r\n\r\n')
        if (end < 0 || text.length < end + 4 + Buffer.byteLength(body)) return
        text = ''
        socket.write(answer)
      })
    },
  )
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.on('disconnect', () => process.exit())
}

async function compare(): Promise<void> {
  const receiver = fork(fileURLToPath(import.meta.url), ['receiver'])
  const [port] = await once(receiver, 'message')
  const origin = `https://localhost:${port}`
  const ca = pem('webhook-ca.pem')

  const pool = new Pool(origin, { connections: concurrency, connect: { ca } })
  const dispatch = (headers: Record<string, string>) =>
    new Promise<void>((resolve, reject) => {
      pool.dispatch(
        { method: 'POST', path: '/hook', headers, body },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd: () => resolve(),
          onResponseError: (_, error) => reject(error),
        },
      )
    })
  const safe = createSafePost({ timeoutMs: 10_000, allowPrivate: true, ca })
  const sameHeaders = sign(0)
  let id = 0

  const lines = await compareRounds({
    'bare pool': () => dispatch(sameHeaders),
    'bare pool, signing': () => dispatch(sign(++id)),
    'safe post, signing': async () => {
      const { kind } = await safe.post(`${origin}/hook`, sign(++id), body)
      if (kind !== 'acknowledged') throw new Error(kind)
    },
  })
  for (const line of lines) console.log(line)
  safe.close()
  await pool.close()
  receiver.disconnect()
}

/** Each loop's median, and what the last of them reaches of the others. */
async function compareRounds(loops: Record<string, () => Promise<void>>): Promise<string[]> {
  const results = Object.entries(loops).map(([name, post]) => ({ name, post, rounds: [] as Result[] }))
  for (let round = 0; round <= rounds; round++) {
    for (const result of results) {
      const measured = await measure(result.post)
      if (round > 0) result.rounds.push(measured) // the first warms up
    }
  }
  const last = results.at(-1)!
  return results.map(({ name, rounds }) => {
    const [perSecond, cpu] = [median(rounds, 'perSecond'), median(rounds, 'cpuMicros')]
    const rate = median(last.rounds, 'perSecond') / perSecond
    const saving = cpu / median(last.rounds, 'cpuMicros')
    return `${name}: ${Math.round(perSecond)}/s, ${cpu.toFixed(1)} µs CPU; ratio ${rate.toFixed(2)} by rate, ${saving.toFixed(2)} by CPU`
  })
}

type Result = { perSecond: number; cpuMicros: number }

async function measure(post: () => Promise<void>): Promise<Result> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  let left = postsPerRound
  const loop = async () => {
    while (left-- > 0) await post()
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
  const { user, system } = process.cpuUsage(cpu)
  return {
    perSecond: (postsPerRound / (performance.now() - startedAt)) * 1000,
    cpuMicros: (user + system) / postsPerRound,
  }
}

function median(results: Result[], of: keyof Result): number {
  return results.map((result) => result[of]).toSorted((a, b) => a - b)[Math.floor(results.length / 2)]!
}
