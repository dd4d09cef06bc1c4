import type { Db } from '../src/platform/db/db.ts'
import { endpoints, startDeliverer } from './support/deliveries.ts'
import { enqueueNewJobs } from './support/enqueue.ts'
import { startPeer } from './support/peer.ts'
import { byRatio, type Result } from './support/result.ts'
import { interleave } from './support/rounds.ts'

const perRound = 6_000
const waiting = 1_000_000
const deadEndpoints = 20
const insertAtOnce = 50_000
/** The pending rows become due one after another during this time, like retries. */
const dueWithinSeconds = 3_600

/** Compares two services, one of which has a million pending rows for endpoints that refuse connections. */
export async function backlog(): Promise<Result> {
  const receiver = await startPeer('receiver', endpoints)
  const burdened = await startDeliverer(receiver)
  const free = await startDeliverer(receiver)
  const unlucky = await burdened.service.register('unlucky')
  for (let number = 0; number < deadEndpoints; number++)
    await unlucky.manage('POST', '/webhooks', {
      name: `dead ${number}`,
      url: `http://127.0.0.1:1/dead-${number}`,
      event_types: ['emailOpen'],
    })
  for (let at = 0; at < waiting; at += insertAtOnce) await insertWaiting(burdened.service.db, insertAtOnce)
  await burdened.service.db.statement.script('analyze')
  await free.service.db.statement.script('analyze')
  const comparison = await interleave(
    () => burdened.deliver(perRound),
    () => free.deliver(perRound),
  )
  const notes = [
    `${waiting.toLocaleString('en')} rows waited for ${deadEndpoints} dead endpoints, due over the next hour`,
  ]
  return byRatio(comparison, { unit: 'deliveries', atLeast: 0.8, aim: 0.95, service: burdened.service, notes })
}

async function insertWaiting(db: Db, count: number): Promise<void> {
  await db.statement`
    with hooks as materialized (
      select organization_id, id, row_number() over (order by id) - 1 as place, count(*) over () as hooks
      from webhooks where url like 'http://127.0.0.1:1/%'
    ),
    made as materialized (
      select organization_id, hooks.id as webhook_id, uuidv7() as id, uuidv7() as event_id
      from generate_series(1, ${count}::int) as number
      join hooks on hooks.place = number % hooks.hooks
    ),
    written as (
      insert into deliveries (organization_id, id, webhook_id, event_id, event_name, status, attempt_count, next_attempt_at,
        reason, body)
      select organization_id, id, webhook_id, event_id, 'emailOpen', 'pending', 1, now(), 'could not be reached',
        '{"event_name":"emailOpen"}'
      from made
    ),
    new_jobs as (
      select organization_id, 'webhook.deliver'::text as kind, webhook_id::text as lane,
        now() + random() * ${dueWithinSeconds} * interval '1 second' as due_at, id
      from made
    ), ${enqueueNewJobs}
    select`
}
