import { setTimeout as sleep } from 'node:timers/promises'
import { endpoints, startDeliverer } from './support/deliveries.ts'
import { HttpLoad, inTurn } from './support/http-load.ts'
import { startPeer } from './support/peer.ts'
import type { Result } from './support/result.ts'
import type { Service } from './support/service.ts'
import { createFlow } from './support/tenant-data.ts'
import { hitRequests } from './track.ts'

const first = { hits: 10_000, deliveries: 10_000 }
/** A million hits and 200,000 deliveries would take six minutes. */
const withinMs = 120_000
const hitsPerDelivery = 5
const connections = 256
const settleMs = 2_000
const atLeast = 1.3
const aim = 1.1

/** Memory of the Node process after many hits and deliveries, compared with its memory after the first ones. */
export async function memory(): Promise<Result> {
  const receiver = await startPeer('receiver', endpoints)
  const { service, deliver } = await startDeliverer(receiver)
  const tenant = await service.register('readers')
  const flow = await createFlow(tenant)
  const load = await HttpLoad.open(service.port, connections)
  const next = inTurn(hitRequests([flow]))
  const done = { hits: 0, deliveries: 0 }
  const hit = async (count: number) => {
    for (const until = done.hits + count; done.hits < until; ) done.hits += (await load.run(next, 500)).operations
  }
  const round = async (hits: number, deliveries: number) => {
    await hit(hits)
    done.deliveries += (await deliver(deliveries)).operations
  }

  await round(first.hits, first.deliveries)
  const before = await settledBytes(service)
  const startedAt = Date.now()
  while (Date.now() - startedAt < withinMs) await round(first.deliveries * hitsPerDelivery, first.deliveries)
  const after = await settledBytes(service)
  load.close()
  const ratio = after / before
  const inMegabytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MB`
  const counted = `${done.hits.toLocaleString('en')} hits and ${done.deliveries.toLocaleString('en')} deliveries`
  return {
    figure: inMegabytes(after),
    reference: inMegabytes(before),
    ratio,
    cpuMicrosPerOperation: null,
    p50Ms: null,
    p99Ms: null,
    memoryBytes: after,
    atLeast: { wanted: `≤ ${atLeast} times`, holds: ratio <= atLeast },
    aim: { wanted: `≤ ${aim} times`, holds: ratio <= aim },
    notes: [`after ${counted}: as many as fit into ${withinMs / 1000} s`],
  }
}

async function settledBytes(service: Service): Promise<number> {
  await sleep(settleMs)
  return service.residentBytes() ?? Number.NaN
}
