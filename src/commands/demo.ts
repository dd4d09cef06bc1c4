import { removeDemo } from '../demo/demo.ts'
import type { Call } from './call.ts'
import { printResult, withDatabase } from './database.ts'

/** `waxwing demo remove`. The service may be running. */
export async function removeDemoData(call: Call): Promise<number> {
  if (call.words.length !== 1 || call.words[0] !== 'remove') {
    process.stderr.write('Usage: waxwing demo remove\n')
    return 2
  }
  return withDatabase(call, async (database, _config, log) => {
    const isRemoved = await removeDemo(database.db, log)
    printResult(
      database,
      isRemoved ? 'The demo organization and its data are deleted.' : 'There is no demo organization.',
    )
    return 0
  })
}
