import { resetPassword } from '../../accounts/accounts.ts'
import { toText } from '../../platform/values/ids.ts'
import { type Call, textOf, UsageFault } from './call.ts'
import { ofService, printJson, withDatabase } from './database.ts'
import { readPassword } from './password-flag.ts'

/** Sets a new password for a user. For a sole owner this is the only way to regain access. */
export async function setNewPassword(call: Call): Promise<void> {
  const email = textOf(call.flags, 'email')
  if (!email) throw new UsageFault('--email is required.')
  const { password, isGenerated } = await readPassword(call.flags)
  await withDatabase(call, ofService, async (database) => {
    const user = await resetPassword(database.db, email, password)
    const output = { user_id: toText('usr', user.id), email: user.email, ...(isGenerated ? { password } : {}) }
    printJson(database, output, 2)
  })
}
