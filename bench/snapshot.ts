import type { Db } from '../src/platform/db/db.ts'
import { endpoints, startDeliverer } from './support/deliveries.ts'
import { startPeer } from './support/peer.ts'
import { byRatio, type Result } from './support/result.ts'
import { interleave } from './support/rounds.ts'

const perRound = 6_000
const pairs = 5
const jobsUnderSnapshot = 600_000
const insertAtOnce = 60_000

/**
 * Compares two services. For one of them, a transaction keeps a snapshot open, so that rows deleted since then cannot
 * be removed. Of the 600,000 jobs created and deleted under the snapshot, only those of the rounds are delivered; the
 * others are inserted into the same lanes and deleted beforehand, which leaves the same dead rows in less time.
 */
export async function snapshot(): Promise<Result> {
  const receiver = await startPeer('receiver', endpoints)
  const watched = await startDeliverer(receiver)
  const free = await startDeliverer(receiver)
  await watched.deliver(perRound)
  const { db } = watched.service
  const holder = await db.pool.connect()
  await holder.query('set idle_in_transaction_session_timeout = 0')
  await holder.query('begin isolation level repeatable read')
  await holder.query('select count(*) from jobs')
  const ahead = jobsUnderSnapshot - (pairs + 1) * perRound
  for (let at = 0; at < ahead; at += insertAtOnce) await comeAndGo(db, insertAtOnce)
  const comparison = await interleave(
    () => watched.deliver(perRound),
    () => free.deliver(perRound),
    pairs,
  )
  await holder.query('rollback')
  holder.release()
  const notes = [
    `of ${jobsUnderSnapshot} jobs ${(pairs + 1) * perRound} were delivered, the others only written and deleted`,
  ]
  return byRatio(comparison, { unit: 'deliveries', atLeast: 0.7, aim: 0.9, service: watched.service, notes })
}

/** In one transaction, so that no worker sees them. */
async function comeAndGo(db: Db, count: number): Promise<void> {
  await db.begin(async (tx) => {
    await tx`
      insert into jobs (organization_id, kind, lane, due_at, id)
      select organization_id, 'webhook.deliver', id::text, clock_timestamp(), uuidv7()
      from (select organization_id, id from webhooks limit ${endpoints}) as hook, generate_series(1, ${count / endpoints}::int)`
    await tx`delete from jobs where kind = 'webhook.deliver'`
  })
}
