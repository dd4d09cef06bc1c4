import { createApiKey, register, Sessions, startSession } from '../../accounts/accounts.ts'
import { toText } from '../../platform/values/ids.ts'
import { type Call, textOf, UsageFault } from './call.ts'
import { ofService, printJson, readSecrets, withDatabase } from './database.ts'
import { readPassword } from './password-flag.ts'

/** Works even if registration is closed, because it requires access to the machine. */
export async function createOrganization(call: Call): Promise<void> {
  const [name, email] = [textOf(call.flags, 'name'), textOf(call.flags, 'email')]
  if (!name || !email) throw new UsageFault('Both --name and --email are required.')
  const { password, isGenerated } = await readPassword(call.flags)
  await withDatabase(call, ofService, async (database, config) => {
    const { db } = database
    const sessions = new Sessions(await readSecrets(database, config))
    const user = await register(db, 'operator', { organizationName: name, email, password })
    const device = { headers: { 'user-agent': 'waxwing create-organization' }, ip: '' }
    const session = await startSession({ db, sessions }, user, device)
    const { record, key } = await createApiKey(db, user, { name: 'first key' })
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
    printJson(database, output, 2)
  })
}
