import { resetPassword } from '../accounts/accounts.ts'
import { readConfig, readEnvironment } from '../config/config.ts'
import { migrate } from '../db/migrate.ts'
import { openLog } from '../runtime/log.ts'
import { toText } from '../values/ids.ts'
import { databaseOf } from './database.ts'
import { type Flags, textOf } from './flags.ts'
import { readPassword } from './password-flag.ts'

/** Sets a new password for a user. For a sole owner this is the only way to regain access. */
export async function setNewPassword(flags: Flags): Promise<number> {
  const email = textOf(flags, 'email')
  if (!email) {
    process.stderr.write('--email is required.\n')
    return 2
  }
  const { password, isGenerated } = await readPassword(flags)
  const config = readConfig(readEnvironment())
  // Only the JSON may be written to standard output.
  const database = await databaseOf(config, await openLog('silent'), { orRunning: true })
  try {
    await migrate(database.db)
    const user = await resetPassword(database.db, email, password)
    const output = { user_id: toText('usr', user.id), email: user.email, ...(isGenerated ? { password } : {}) }
    process.stdout.write(`${JSON.stringify(output, null, 2)}\n`)
    return 0
  } finally {
    await database.close()
  }
}
