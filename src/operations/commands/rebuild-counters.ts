import { rebuildCounters } from '../../events/events.ts'
import { type Call, note } from './call.ts'
import { ofService, printResult, withDatabase } from './database.ts'

/** Returns 1 if counters differed: a bug, unless some events are older than the counters. */
export async function rebuildAllCounters(call: Call): Promise<number> {
  return withDatabase(call, ofService, async (database) => {
    note('Recounting all events. A million events take about half a minute …')
    const { countersDifferent, firstsDifferent, differences, since } = await rebuildCounters(database.db)
    const found = countersDifferent + firstsDifferent
    const from = since ? ` since ${since.toISOString()}, before which individual events were removed` : ''
    printResult(
      database,
      ...differences,
      found === 0
        ? `The counters are correct${from}.`
        : `${found} counters differed from the events${from} and were corrected.`,
    )
    return found === 0 ? 0 : 1
  })
}
