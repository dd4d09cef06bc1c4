import { resetPassword } from '../accounts/accounts.ts'
import { makeUpPassword } from '../accounts/passwords.ts'
import { readConfig, readEnvironment } from '../config/config.ts'
import { migrate } from '../db/migrate.ts'
import { openLog } from '../runtime/log.ts'
import { toText } from '../values/ids.ts'
import { databaseOf } from './run.ts'

/** The way back in for somebody who has forgotten their password, and for the only owner of an organization the only one. */
export async function setNewPassword(flags: Record<string, string | undefined>): Promise<number> {
  const { email, password = makeUpPassword() } = flags
  if (!email) {
    process.stderr.write('--email is needed.\n')
    return 2
  }
  const config = readConfig(readEnvironment())
  // Standard output is for the JSON alone.
  const database = await databaseOf(config, await openLog('silent'), { orRunning: true })
  try {
    await migrate(database.db)
    const user = await resetPassword(database.db, email, password)
    const made = { user_id: toText('usr', user.id), email: user.email, ...(flags.password ? {} : { password }) }
    process.stdout.write(`${JSON.stringify(made, null, 2)}\n`)
    return 0
  } finally {
    await database.close()
  }
}
