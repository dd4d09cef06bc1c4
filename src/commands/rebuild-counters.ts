import { readConfig, readEnvironment } from '../config/config.ts'
import { rebuildCounters } from '../events/rebuild.ts'
import { openLog } from '../runtime/log.ts'
import { databaseOf } from './run.ts'

/** Recounts all events, corrects what differs, and says so. Ends with 1 when something differed: it must not. */
export async function rebuildAllCounters(): Promise<number> {
  const config = readConfig(readEnvironment())
  const database = await databaseOf(config, await openLog(config.LOG_LEVEL), { orRunning: true })
  try {
    process.stderr.write('Counting all events anew. A million take about half a minute …\n')
    const { countersDifferent, firstsDifferent, differences, since } = await rebuildCounters(database.db)
    const found = countersDifferent + firstsDifferent
    const from = since ? ` since ${since.toISOString()}, before which single events were removed` : ''
    const lines = [
      ...differences,
      found === 0 ? `The counters are right${from}.` : `${found} differed from the events${from}, and are corrected.`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    return found === 0 ? 0 : 1
  } finally {
    await database.close()
  }
}
