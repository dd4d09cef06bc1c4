import { discardQueuedDeliveries } from '../../events/events.ts'
import type { Db } from '../../platform/db/db.ts'
import { discardQueuedMessages } from '../../sending/sending.ts'
import { findPause, pauseSending, resumeSending } from '../sending-status/sending-pause.ts'
import type { Call } from './call.ts'
import { ofService, printResult, withDatabase } from './database.ts'

/** Stops all emails and webhooks until they are resumed. They are still accepted and queued. */
export async function pauseAllSending(call: Call): Promise<void> {
  await withDatabase(call, ofService, async (database) => {
    await pauseSending(database.db.statement, 'operator')
    printResult(database, 'Sending is paused. Emails and webhooks stay queued until `waxwing resume-sending`.')
  })
}

/** With --discard-queued, what was due before the pause is marked as failed instead of being sent. */
export async function resumeAllSending(call: Call): Promise<void> {
  await withDatabase(call, ofService, async (database) => {
    const { db } = database
    const pause = await findPause(db)
    if (!pause) return printResult(database, 'Sending is not paused.')
    const lines = call.flags['discard-queued'] ? await discardQueued(db, pause.since) : []
    await resumeSending(db.statement)
    printResult(database, ...lines, 'Sending is resumed.')
  })
}

async function discardQueued(db: Db, before: Date): Promise<string[]> {
  const messages = await discardQueuedMessages(db, before)
  const deliveries = await discardQueuedDeliveries(db, before)
  return [`Discarded ${messages} emails and ${deliveries} webhook deliveries that were queued.`]
}
