import { join } from 'node:path'
import type { Counter, Registry } from 'prom-client'
import { EventRecorder } from '../../events/events.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import type { Entry, Unsubscription } from './entries.ts'
import { Hits } from './hits.ts'
import { Spool } from './spool.ts'
import { askDatabase } from './tracking.sql.ts'
import { recordUnsubscription } from './unsubscribe.ts'

export type HitsSetup = {
  db: Db
  stages: StageRegistry
  events: EventRecorder
  counter: Counter<'event'>
  log: Log
  metrics: Registry
  dataDir: string
}

/** Connects the recording of hits to the database and the spool directory. */
export function createHits({ db, stages, events, counter, log, metrics, dataDir }: HitsSetup): Hits {
  const unsubscribe = async (unsubscription: Unsubscription) => {
    if (await recordUnsubscription(db, unsubscription)) counter.inc({ event: 'contactUnsubscribe' })
  }
  const writer = (recorder: EventRecorder) => (entry: Entry) =>
    'event' in entry ? recorder.record(entry.event) : unsubscribe(entry.unsubscription)
  const spool = new Spool(join(dataDir, 'spool'), stages)
  return new Hits({
    write: writer(events),
    rewrite: writer(new EventRecorder({ db, stages, counter, name: 'record spooled events' })),
    probe: () => askDatabase(db),
    spool,
    log,
    metrics,
  })
}
