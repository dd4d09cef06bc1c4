import { readConfig, readEnvironment } from '../config/config.ts'
import { rebuildCounters } from '../events/rebuild.ts'
import { openLog } from '../runtime/log.ts'
import { databaseOf } from './database.ts'

/**
 * Recounts all events, and reports and corrects differences. Returns 1 if there were any, which indicates a bug unless
 * some events are older than the counters.
 */
export async function rebuildAllCounters(): Promise<number> {
  const config = readConfig(readEnvironment())
  const database = await databaseOf(config, await openLog(config.LOG_LEVEL), { orRunning: true })
  try {
    process.stderr.write('Recounting all events. A million events take about half a minute …\n')
    const { countersDifferent, firstsDifferent, differences, since, linksAdded } = await rebuildCounters(database.db)
    const found = countersDifferent + firstsDifferent
    const from = since ? ` since ${since.toISOString()}, before which individual events were removed` : ''
    const lines = [
      ...differences,
      ...(linksAdded > 0 ? [`${linksAdded} clicks from before links were counted have a link now.`] : []),
      found === 0
        ? `The counters are correct${from}.`
        : `${found} counters differed from the events${from} and were corrected.`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    return found === 0 ? 0 : 1
  } finally {
    await database.close()
  }
}
