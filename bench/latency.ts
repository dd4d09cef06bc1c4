import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { atEnd } from './support/cleanup.ts'
import { HttpLoad, inTurn } from './support/http-load.ts'
import type { Result } from './support/result.ts'
import { percentiles } from './support/rounds.ts'
import { startService } from './support/service.ts'
import { createFlow } from './support/tenant-data.ts'
import { hitRequests } from './track.ts'

const samples = 400
const warmUps = 20
const pauseMs = 30
const atLeastMs = 50
const aimMs = 15

/** The time from an open to the receipt of its webhook, one at a time. */
export async function latency(): Promise<Result> {
  let received = () => {}
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      received()
      response.end('ok')
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  atEnd(() => {
    receiver.closeAllConnections()
    receiver.close()
  })

  const service = await startService('start')
  const tenant = await service.register('acme')
  const flow = await createFlow(tenant)
  const { port } = receiver.address() as AddressInfo
  await tenant.manage('POST', '/webhooks', {
    name: 'all',
    url: `http://127.0.0.1:${port}/hook`,
    event_types: ['emailOpen', 'emailClick'],
  })
  const load = await HttpLoad.open(service.port, 1)
  const next = inTurn(hitRequests([flow]))
  const times: number[] = []
  const cpuBefore = service.cpuMicros()
  for (let sample = 0; sample < samples + warmUps; sample++) {
    const arrival = new Promise<void>((resolve) => {
      received = resolve
    })
    const startedAt = performance.now()
    const [, ms] = await Promise.all([load.run(next, 0), arrival.then(() => performance.now() - startedAt)])
    if (sample >= warmUps) times.push(ms)
    await sleep(pauseMs)
  }
  const cpuAfter = service.cpuMicros()
  load.close()
  const { p50Ms, p99Ms } = percentiles(times)
  return {
    figure: `p99 ${p99Ms!.toFixed(1)} ms`,
    reference: '-',
    ratio: null,
    cpuMicrosPerOperation:
      cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / (samples + warmUps),
    p50Ms,
    p99Ms,
    memoryBytes: service.residentBytes(),
    atLeast: { wanted: `p99 ≤ ${atLeastMs} ms`, holds: p99Ms! <= atLeastMs },
    aim: { wanted: `p99 ≤ ${aimMs} ms`, holds: p99Ms! <= aimMs },
    notes: [`${samples} hits, ${pauseMs} ms apart, from sending the GET to the whole POST received`],
  }
}
