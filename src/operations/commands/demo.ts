import { bucketOf } from '../../platform/object-storage/bucket.ts'
import { removeDemo } from '../demo/demo.ts'
import { type Call, UsageFault } from './call.ts'
import { ofService, printResult, withDatabase } from './database.ts'

/** `waxwing demo remove`. The service may be running. */
export async function removeDemoData(call: Call): Promise<void> {
  if (call.words.length !== 1 || call.words[0] !== 'remove') throw new UsageFault('Usage: waxwing demo remove')
  await withDatabase(call, ofService, async (database, config, log) => {
    const isRemoved = await removeDemo(database.db, log, bucketOf(config))
    const result = isRemoved ? 'The demo organization and its data are deleted.' : 'There is no demo organization.'
    printResult(database, result)
  })
}
