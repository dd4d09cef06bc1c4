import { readConfig, readEnvironment } from '../config/config.ts'
import type { Db } from '../db/db.ts'
import { migrate } from '../db/migrate.ts'
import { discardQueuedMessages } from '../messages/discard-queued.ts'
import { openLog } from '../runtime/log.ts'
import { findPause, pauseSending, resumeSending } from '../sending-status/sending-pause.ts'
import { discardQueuedDeliveries } from '../webhooks/discard-queued.ts'
import { databaseOf } from './database.ts'
import type { Flags } from './flags.ts'

/** Stops all emails and webhooks until they are resumed. They are still accepted and queued. */
export async function pauseAllSending(): Promise<undefined> {
  await withDatabase(async (db) => {
    await pauseSending(db.statement, 'operator')
    process.stdout.write('Sending is paused. Emails and webhooks stay queued until `waxwing resume-sending`.\n')
  })
}

/** With --discard-queued, what was due before the pause is marked as failed instead of being sent. */
export async function resumeAllSending(flags: Flags): Promise<undefined> {
  await withDatabase(async (db) => {
    const pause = await findPause(db)
    if (!pause) return void process.stdout.write('Sending is not paused.\n')
    const lines = flags['discard-queued'] ? await discardQueued(db, pause.since) : []
    await resumeSending(db.statement)
    process.stdout.write(`${[...lines, 'Sending is resumed.'].join('\n')}\n`)
  })
}

async function discardQueued(db: Db, before: Date): Promise<string[]> {
  const messages = await discardQueuedMessages(db, before)
  const deliveries = await discardQueuedDeliveries(db, before)
  return [`Discarded ${messages} emails and ${deliveries} webhook deliveries that were queued.`]
}

async function withDatabase(work: (db: Db) => Promise<void>): Promise<void> {
  const config = readConfig(readEnvironment())
  const database = await databaseOf(config, await openLog('silent'), { orRunning: true })
  try {
    await migrate(database.db)
    await work(database.db)
  } finally {
    await database.close()
  }
}
