import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startRelay } from './support/relay.ts'
import { announcedSeed } from './support/seeded.ts'
import { newCustomer, startService } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

const megabyte = 1024 * 1024
const memoryMegabytesMax = 30
const sampleEveryMs = 10

/** Memory of a process that it shares with no other, in bytes. */
const privateBytes = (pid: number): number => {
  const [, kilobytes] = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes ?? 0) * 1024
}

function childrenOf(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parentOf = (name: string) => {
    try {
      return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1])
    } catch {
      return 0
    }
  }
  const direct = all.filter((name) => parentOf(name) === pid).map(Number)
  return direct.flatMap((child) => [child, ...childrenOf(child)])
}

/** Samples the memory of a process and of its children, and returns by how much the largest growth exceeds the start. */
function watchMemory(pid: number) {
  const before = new Map<number, number>()
  const most = new Map<number, number>()
  const sample = () => {
    for (const each of [pid, ...childrenOf(pid)])
      try {
        const bytes = privateBytes(each)
        // A process that starts during the measurement counts from its first sample.
        if (!before.has(each)) before.set(each, bytes)
        most.set(each, Math.max(most.get(each) ?? 0, bytes))
      } catch {
        // It has ended.
      }
  }
  sample()
  const timer = setInterval(sample, sampleEveryMs)
  return () => {
    clearInterval(timer)
    return Math.max(...[...most].map(([each, bytes]) => bytes - before.get(each)!)) / megabyte
  }
}

test('an email with 10 MB is sent although the service is killed, and takes little memory in each process', {
  timeout: longTestMsMax.kills(1),
}, async () => {
  const random = announcedSeed('files')
  await using relay = await startRelay({ parse: false })
  const sizes: number[] = []
  relay.onData = ({ raw }) => {
    sizes.push(raw.length)
    return undefined
  }
  await using service = await startService('start', { SMTP_URL: relay.url, SENDING_PROCESSES: '0' })
  const customer = await newCustomer(service.url)
  const send = (bytes: number) =>
    callUrl('POST', `${service.url}/public/api/v1/emails`, {
      headers: { 'x-api-token': customer.apiKey },
      body: {
        from: 'hello@acme.example',
        to: 'ada@example.com',
        subject: 'Files',
        html: '<p>See the file</p>',
        attachments: [{ filename: 'a.bin', content: random.bytes(bytes).toString('base64') }],
      },
    })
  // Loads what is loaded on first use.
  for (let sent = 1; sent <= 5; sent++) {
    expect((await send(megabyte)).status).toBe(200)
    await until('a small email', () => sizes.length === sent)
  }
  await sleep(1_000)
  const growth = watchMemory(service.pid())
  expect((await send(10 * megabyte)).status).toBe(200)
  await until('the large email', () => sizes.length === 6)
  const megabytes = growth()
  expect(megabytes).toBeLessThan(memoryMegabytesMax)

  const answer = await send(10 * megabyte)
  await service.kill()
  expect(answer.status).toBe(200)
  await service.start()
  await until('the email of the killed process', () => sizes.length >= 7, 60_000)
  expect(sizes.at(-1)).toBeGreaterThan(13 * megabyte)
})
