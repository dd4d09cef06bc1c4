import { register } from '../accounts/accounts.ts'
import { createApiKey } from '../accounts/api-keys.ts'
import { Sessions } from '../accounts/sessions.ts'
import { startSession } from '../accounts/start-session.ts'
import { readConfig, readEnvironment } from '../config/config.ts'
import { migrate } from '../db/migrate.ts'
import { openLog } from '../runtime/log.ts'
import { toText } from '../values/ids.ts'
import { databaseOf, readSecrets } from './database.ts'
import { type Flags, textOf } from './flags.ts'
import { readPassword } from './password-flag.ts'

/** Works even if registration is closed, because it requires access to the machine. */
export async function createOrganization(flags: Flags): Promise<number> {
  const [name, email] = [textOf(flags, 'name'), textOf(flags, 'email')]
  if (!name || !email) {
    process.stderr.write('Both --name and --email are required.\n')
    return 2
  }
  const { password, isGenerated } = await readPassword(flags)
  const config = readConfig(readEnvironment())
  const sessions = new Sessions(await readSecrets(config))
  // Only the JSON may be written to standard output.
  const database = await databaseOf(config, await openLog('silent'), { orRunning: true })
  try {
    await migrate(database.db)
    const user = await register(database.db, 'operator', { organizationName: name, email, password })
    const device = { headers: { 'user-agent': 'waxwing create-organization' }, ip: '' }
    const session = await startSession({ db: database.db, sessions }, user, device)
    const { record, key } = await createApiKey(database.db, user, { name: 'first key' })
    const output = {
      organization_id: toText('org', user.organizationId),
      user_id: toText('usr', user.id),
      email: user.email,
      ...(isGenerated ? { password } : {}),
      token: session.token,
      expires_at: session.expires_at,
      api_key_id: toText('key', record.id),
      api_key: key,
    }
    process.stdout.write(`${JSON.stringify(output, null, 2)}\n`)
    return 0
  } finally {
    await database.close()
  }
}
