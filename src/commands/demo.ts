import { readConfig, readEnvironment } from '../config/config.ts'
import { migrate } from '../db/migrate.ts'
import { removeDemo } from '../demo/demo.ts'
import { openLog } from '../runtime/log.ts'
import { databaseOf } from './database.ts'

/** `waxwing demo remove`. The service may be running. */
export async function removeDemoData(words: string[]): Promise<number> {
  if (words.length !== 1 || words[0] !== 'remove') {
    process.stderr.write('Usage: waxwing demo remove\n')
    return 2
  }
  const config = readConfig(readEnvironment())
  const log = await openLog('silent')
  const database = await databaseOf(config, log, { orRunning: true })
  try {
    await migrate(database.db)
    const isRemoved = await removeDemo(database.db, log)
    process.stdout.write(
      isRemoved ? 'The demo organization and its data are deleted.\n' : 'There is no demo organization.\n',
    )
    return 0
  } finally {
    await database.close()
  }
}
