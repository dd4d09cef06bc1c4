import { Pool } from 'undici'
import type { Db } from '../../src/platform/db/db.ts'
import { authorityFile, certificateOf } from './certificates.ts'
import { atEnd } from './cleanup.ts'
import { enqueueNewJobs } from './enqueue.ts'
import type { Peer } from './peer.ts'
import type { Round } from './rounds.ts'
import { type Service, startService, type Tenant } from './service.ts'
import { createFlow, insertContacts } from './tenant-data.ts'
import { until } from './until.ts'

export const endpoints = 100
/** An organization may have fifty webhooks. */
const tenantsMin = 2
const people = 20_000
const looksEveryMs = 25

export type Deliverer = {
  service: Service
  tenants: Tenant[]
  /** Creates this many events, each for one endpoint, and waits until every attempt is recorded. */
  deliver(count: number): Promise<Round>
}

/** A service with a hundred webhooks at the receiver, each with its own origin. */
export async function startDeliverer(receiver: Peer): Promise<Deliverer> {
  const service = await startService('start', { EGRESS_CA_FILE: authorityFile })
  const made = await service.registerAll()
  while (made.length < tenantsMin) made.push(await service.register('another'))
  const perTenant = Math.ceil(people / made.length)
  for (const tenant of made) {
    await createFlow(tenant)
    await insertContacts(service.db, tenant.id, perTenant)
  }
  for (const [index, port] of receiver.ports.entries())
    await made[index % made.length]!.manage('POST', '/webhooks', {
      name: `endpoint ${index}`,
      url: `https://localhost:${port}/hook`,
      event_types: ['emailClick'],
    })
  return {
    service,
    tenants: made,
    deliver: async (count) => {
      const before = await receiver.count()
      const firstId = lowestId(Date.now())
      await insertEvents(service.db, count, perTenant)
      const startedAt = performance.now()
      const cpuBefore = service.cpuMicros()
      await service.db.statement`select pg_notify('waxwing_jobs', '{"from":"bench","kind":"webhook.deliver"}')`
      await until('the posts', async () => (await receiver.count()) >= before + count, looksEveryMs)
      await until('the records', () => isRecorded(service.db, firstId), looksEveryMs)
      const cpuAfter = service.cpuMicros()
      return {
        operations: count,
        seconds: (performance.now() - startedAt) / 1000,
        cpuMicros: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
      }
    },
  }
}

/** Writes clicks with their deliveries and jobs in one statement, so that they become visible together. */
async function insertEvents(db: Db, count: number, contacts: number): Promise<void> {
  await db.statement`
    with hooks as materialized (
      select organization_id, id, row_number() over (order by id) - 1 as place
      from webhooks where url like 'https://localhost%'
    ),
    people as materialized (
      select organization_id, id, email, first_name, row_number() over (partition by organization_id order by id) - 1 as place
      from contacts
    ),
    made as materialized (
      select hooks.organization_id, hooks.id as webhook_id, uuidv7() as id, uuidv7() as message_id, flows.id as flow_id,
        people.id as contact_id, people.email, people.first_name
      from generate_series(1, ${count}::int) as number
      join hooks on hooks.place = number % ${endpoints}
      join people on people.organization_id = hooks.organization_id and people.place = number % ${contacts}
      join flows on flows.organization_id = hooks.organization_id
    ),
    written as (
      insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, data,
        contact_email, contact_first_name)
      select organization_id, id, 'emailClick', now(), message_id, flow_id, contact_id,
        '{"url": "https://shop.example/orders/1042?utm_source=mail", "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)"}',
        email, first_name
      from made
    ),
    new_deliveries as (
      insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, next_attempt_at)
      select organization_id, delivery_id(id, webhook_id), webhook_id, id, 'emailClick', 'pending', now() from made
      returning organization_id, id, webhook_id
    ),
    new_jobs as (
      select organization_id, 'webhook.deliver'::text as kind, webhook_id::text as lane, now() as due_at, id
      from new_deliveries
    ), ${enqueueNewJobs}
    select`
}

/** Less than every id created from this time on. */
function lowestId(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

async function isRecorded(db: Db, firstId: string): Promise<boolean> {
  const [row] = await db<{ waiting: boolean }>`
    select exists (
      select from organizations
      join deliveries on deliveries.organization_id = organizations.id
      where deliveries.id >= ${firstId} and deliveries.status = 'pending'
    ) as waiting`
  return !row!.waiting
}

const reference = {
  method: 'POST' as const,
  path: '/hook',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ event_name: 'emailClick', timestamp: 1_767_225_600, data: { text: 'x'.repeat(400) } }),
}

/** One undici pool that posts the same bytes repeatedly, with one connection per endpoint. */
export function bareLoop(receiver: Peer): (count: number) => Promise<Round> {
  const pool = new Pool(`https://localhost:${receiver.ports[0]}`, {
    connections: endpoints,
    connect: { ca: certificateOf('webhook-ca.pem') },
  })
  atEnd(() => pool.close())
  return async (count) => {
    const startedAt = performance.now()
    let left = count
    const loop = async () => {
      while (left-- > 0) {
        const { body } = await pool.request(reference)
        await body.dump()
      }
    }
    await Promise.all(Array.from({ length: endpoints }, loop))
    return { operations: count, seconds: (performance.now() - startedAt) / 1000 }
  }
}
