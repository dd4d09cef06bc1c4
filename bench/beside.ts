import { setTimeout as sleep } from 'node:timers/promises'
import { paced } from './support/paced.ts'
import { startPeer } from './support/peer.ts'
import { requestsTo } from './support/requests.ts'
import type { Result } from './support/result.ts'
import { percentiles } from './support/rounds.ts'
import { startService } from './support/service.ts'
import { addressOf, createFlow, createGroupOfAll, insertContacts } from './support/tenant-data.ts'
import { until } from './support/until.ts'

const recipients = 200_000
const pace = { perSecond: 20, seconds: 6 }
const rounds = 4
const settleMs = 1_500
const p50Max = 1.2
const p99Max = 2

/** 20 send requests per second, without and beside a broadcast, in turn: the broadcast is paused and resumed. */
export async function beside(): Promise<Result> {
  const sink = await startPeer('smtp-sink')
  const service = await startService('start', {
    SMTP_URL: `smtp://127.0.0.1:${sink.ports[0]}`,
    MAIL_FROM: 'Acme <shop@example.com>',
  })
  const tenant = await service.register('acme')
  const flow = await createFlow(tenant)
  const news = await createFlow(tenant, { name: 'News', kind: 'marketing' })
  await insertContacts(service.db, tenant.id, recipients)
  const group = await createGroupOfAll(service.db, tenant)
  const { id } = await tenant.manage('POST', '/broadcasts', {
    name: 'News',
    flow_id: news.text,
    audience: { group_ids: [group] },
    context: { order_id: 1042 },
  })
  const countSent = async (): Promise<number> => (await tenant.manage('GET', `/broadcasts/${id}`)).counts.sent
  const act = (action: string, body?: object) => tenant.manage('POST', `/broadcasts/${id}/${action}`, body)
  const call = requestsTo(service)
  let sends = 0
  const send = async (times: number[]) => {
    const startedAt = performance.now()
    await call(
      'POST',
      '/public/api/v1/flow/send-email-through-flow',
      { 'x-api-token': tenant.apiKey },
      { flow_id: flow.text, contact_email: addressOf((sends++ % recipients) + 1), context: { order_id: 1042 } },
    )
    times.push(performance.now() - startedAt)
  }
  const without: number[] = []
  const during: number[] = []
  let sent = 0
  let seconds = 0
  await act('start', { expected_recipients: recipients })
  await until('the first emails', async () => (await countSent()) > 0)
  for (let round = 0; round <= rounds; round++) {
    // The first round warms up.
    const [quiet, busy] = round === 0 ? [[], []] : [without, during]
    await act('pause')
    await sleep(settleMs)
    await paced(pace, () => send(quiet))
    await act('resume')
    await sleep(settleMs)
    const before = await countSent()
    const startedAt = performance.now()
    await paced(pace, () => send(busy))
    if (round === 0) continue
    seconds += (performance.now() - startedAt) / 1000
    sent += (await countSent()) - before
  }
  const alone = percentiles(without)
  const together = percentiles(during)
  const p50 = together.p50Ms! / alone.p50Ms!
  const p99 = together.p99Ms! / alone.p99Ms!
  const isWithin = p50 <= p50Max && p99 <= p99Max
  return {
    figure: `p50 ${together.p50Ms!.toFixed(1)} ms, p99 ${together.p99Ms!.toFixed(1)} ms`,
    reference: `p50 ${alone.p50Ms!.toFixed(1)} ms, p99 ${alone.p99Ms!.toFixed(1)} ms`,
    ratio: p50,
    cpuMicrosPerOperation: null,
    ...together,
    memoryBytes: service.residentBytes(),
    atLeast: { wanted: `p50 ≤ ${p50Max} times, p99 ≤ ${p99Max} times`, holds: isWithin },
    aim: { wanted: `p50 ≤ ${p50Max} times, p99 ≤ ${p99Max} times`, holds: isWithin },
    notes: [
      `p99 ${p99.toFixed(2)} times; ${Math.round(sent / seconds).toLocaleString('en')} mails/s of the broadcast during the requests`,
    ],
  }
}
