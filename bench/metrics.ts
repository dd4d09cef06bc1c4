import type { Db } from '../src/platform/db/db.ts'
import { type FlowId, newId, type OrganizationId, toText } from '../src/platform/values/ids.ts'
import { fillFlowCounters } from './support/flow-counters.ts'
import { HttpLoad, httpRequest } from './support/http-load.ts'
import type { Result } from './support/result.ts'
import { interleave, percentiles, type Round } from './support/rounds.ts'
import { type Service, startService } from './support/service.ts'
import { createFlow } from './support/tenant-data.ts'

const manyEvents = 10_000_000
const fewEvents = 100_000
/** The number of event rows actually written, since ten million would take minutes. */
const manyRows = 500_000
const insertAtOnce = 100_000
const flows = 4
const days = 365
const roundMs = 1_500
const atLeast = { ratio: 1.5, ms: 10 }
/** For opening the results of a flow, which shows 30 days. */
const resultsMsMax = 20
/** Tolerance for equal times. */
const aim = { ratio: 1.05, ms: 5 }

/** The metric over a year, requested one at a time from a service with many events and from one with few. */
export async function metrics(): Promise<Result> {
  const [manyFilled, fewFilled] = [await startFilled(manyEvents, manyRows), await startFilled(fewEvents, fewEvents)]
  // Opened when both are filled: an idle connection expires.
  const [many, few] = [await withLoad(manyFilled), await withLoad(fewFilled)]
  const ask = async ({ load, request, service }: Filled): Promise<Round> => {
    const cpuBefore = service.cpuMicros()
    const round = await load.run(() => request, roundMs)
    const cpuAfter = service.cpuMicros()
    return { ...round, cpuMicros: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore }
  }
  // Times are compared instead of rates, so the service with many events is the reference.
  const { ours, reference, ratio } = await interleave(
    () => ask(few),
    () => ask(many),
  )
  const last = await ask(many)
  const { p50Ms, p99Ms } = percentiles(last.latenciesMs ?? [])
  const figures = await countStored(many.service.db)
  const results = await askResults(many)
  many.load.close()
  few.load.close()
  const ms = (perSecond: number) => `${(1000 / perSecond).toFixed(2)} ms`
  const reaches = (wanted: typeof aim) =>
    ratio <= wanted.ratio && p50Ms! <= wanted.ms && results[0]!.p50Ms! <= resultsMsMax
  return {
    figure: ms(reference),
    reference: ms(ours),
    ratio,
    cpuMicrosPerOperation: last.cpuMicros ? last.cpuMicros / last.operations : null,
    p50Ms,
    p99Ms,
    memoryBytes: many.service.residentBytes(),
    atLeast: { wanted: `≤ ${atLeast.ratio} times, ≤ ${atLeast.ms} ms`, holds: reaches(atLeast) },
    aim: { wanted: `≤ ${aim.ratio} times, ≤ ${aim.ms} ms`, holds: reaches(aim) },
    notes: [
      `counters as of 10 million events (${figures.counters} rows), ${figures.events} rows of events`,
      ...results.map(
        ({ days, p50Ms, p99Ms }) =>
          `results of a flow over ${days} days: p50 ${p50Ms!.toFixed(1)} ms, p99 ${p99Ms!.toFixed(1)} ms (≤ ${resultsMsMax} ms)`,
      ),
    ],
  }
}

type Prepared = { service: Service; request: Buffer; resultRequest: (days: number) => Buffer }
type Filled = Prepared & { load: HttpLoad }

const withLoad = async (prepared: Prepared): Promise<Filled> => ({
  ...prepared,
  load: await HttpLoad.open(prepared.service.port, 1),
})

/** The results of one flow, as the web app requests them, in a time zone that is not UTC. */
async function askResults({ load, resultRequest }: Filled) {
  const asked = []
  for (const days of [30, 90, 365]) {
    const request = resultRequest(days)
    await load.run(() => request, roundMs / 2)
    const { latenciesMs } = await load.run(() => request, roundMs)
    asked.push({ days, ...percentiles(latenciesMs ?? []) })
  }
  return asked
}

async function startFilled(events: number, rows: number): Promise<Prepared> {
  const service = await startService('serve')
  const tenant = await service.register('acme')
  const own = (await createFlow(tenant)).id
  const flowIds = [own, ...Array.from({ length: flows - 1 }, () => newId('flw'))]
  for (let at = 0; at < rows; at += insertAtOnce) await insertEvents(service.db, tenant.id, flowIds, insertAtOnce)
  for (const eventName of ['emailSent', 'emailOpen', 'emailClick'])
    await fillCounters(service.db, tenant.id, flowIds, eventName, events / 3)
  await service.db.statement.script('vacuum analyze event_counters')
  if (events === manyEvents) await fillFlowCounters(service.db, tenant.id, own, days)
  const { api_key: reader } = await tenant.manage('POST', '/api-keys', { name: 'reader', scopes: ['flows:read'] })
  const today = Date.now()
  const day = (ago: number) => new Date(today - ago * 86_400_000).toISOString().slice(0, 10)
  const query = `event_name=emailOpen&start_date=${day(days - 1)}&end_date=${day(0)}`
  const path = `/public/api/v1/analytics/metrics/get-email-event-metric?${query}`
  const request = httpRequest('GET', path, { 'x-api-token': tenant.apiKey })
  const resultRequest = (days: number) => {
    const period = `start_date=${day(days - 1)}&end_date=${day(0)}&timezone=Asia/Kolkata`
    const results = `/api/v1/organization/flows/${toText('flw', own)}/results?${period}`
    return httpRequest('GET', results, { 'x-api-token': reader })
  }
  return { service, request, resultRequest }
}

async function insertEvents(db: Db, organizationId: OrganizationId, flowIds: FlowId[], count: number): Promise<void> {
  await db.statement`
    insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id)
    select ${organizationId}, uuidv7(-ago), (array['emailSent', 'emailOpen', 'emailClick'])[1 + number % 3], now() - ago,
      uuidv7(-ago), (${flowIds}::uuid[])[1 + number % ${flows}], uuidv7(-ago)
    from generate_series(1, ${count}::int) as number
    cross join lateral (select number * interval '1 day' * ${days} / ${count}::int as ago) as time`
}

/** Writes the counters that recording this many events would produce, spread evenly over a year and all flows. */
async function fillCounters(
  db: Db,
  organizationId: OrganizationId,
  flowIds: FlowId[],
  eventName: string,
  events: number,
): Promise<void> {
  const quarters = days * 96
  await db.statement`
    with quarters as (
      select flow.id as flow_id, date_bin('15 minutes', now(), '2000-01-01Z') - number * interval '15 minutes' as at,
        floor((flow.place * ${quarters} + number + 1) * ${events / quarters / flows}::float8)
          - floor((flow.place * ${quarters} + number) * ${events / quarters / flows}::float8) as total
      from unnest(${flowIds}::uuid[]) with ordinality as flow (id, place), generate_series(0, ${quarters - 1}::int) as number
    )
    insert into event_counters (organization_id, event_name, flow_id, grain, starts_at, total, uniques, machine)
    select ${organizationId}, ${eventName}, flow.id, grain.name, grain.starts_at, sum(total), sum(total), 0
    from quarters
    cross join lateral (values (flow_id), ('00000000-0000-0000-0000-000000000000'::uuid)) as flow (id)
    cross join lateral (values
      ('day', date_bin('1 day', at, '2000-01-01Z')), ('quarter', at)
    ) as grain (name, starts_at)
    where total > 0
    group by 3, 4, 5`
}

async function countStored(db: Db): Promise<{ events: string; counters: string }> {
  const [row] = await db<{ events: number; counters: number }>`
    select (select count(*) from events) as events, (select count(*) from event_counters) as counters`
  return { events: row!.events.toLocaleString('en'), counters: row!.counters.toLocaleString('en') }
}
