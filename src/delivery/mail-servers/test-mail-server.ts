import type { RelayState } from '@waxwing/smtp-client'
import type { Db } from '../../platform/db/db.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { Connector } from './connector.ts'
import { unreadableCredentials } from './credentials.ts'
import type { MailServer } from './mail-server.ts'
import type { ConnectionInput } from './mail-servers.shapes.ts'
import { type SealedMailServer, updateTested } from './mail-servers.sql.ts'
import { storedTarget, targetOf } from './settings.ts'
import { type ConnectionTest, testConnection } from './test-connection.ts'
import { testToken } from './test-tokens.ts'

export type TestParts = {
  db: Db
  box: SecretBox
  allowPrivate: boolean
  connector: Connector
  /** The time for a test as a whole. */
  testMs: number
  /** Records the result of the test of a stored mail server. */
  onTested: (server: MailServer, state: RelayState) => Promise<void>
}

/** Tests a stored mail server, and stores whether it works. No connection to the database is held during the test. */
export async function testMailServer(parts: TestParts, server: SealedMailServer): Promise<ConnectionTest> {
  const { db, box, connector, testMs } = parts
  const target = storedTarget(box, server)
  const { oauth } = server
  // So that the refresh token is tested as well.
  if (oauth) connector.tokens.forget({ ...server, oauth })
  const options = connector.optionsFor(server)
  const result = target && options ? await testConnection(target, options, testMs) : unreadable
  if (await updateTested(db.statement, server)) await parts.onTested(server, stateOf(result))
  return result
}

/** Throws `Refusal` if the settings are invalid. With success, the result has a token for adding the mail server. */
export async function testSettings(
  parts: TestParts,
  organizationId: OrganizationId,
  input: ConnectionInput,
): Promise<ConnectionTest & { testToken: string | null }> {
  const { box, connector, allowPrivate, testMs } = parts
  const target = targetOf(input, undefined, { allowPrivate })
  const result = await testConnection(target, connector.optionsForTest(target.oauth), testMs)
  return { ...result, testToken: result.ok ? testToken(box, organizationId, target) : null }
}

const retryMs = 60_000

function stateOf({ ok, steps }: ConnectionTest): RelayState {
  if (ok) return { kind: 'up' }
  const now = Date.now()
  return { kind: 'down', since: new Date(now), reason: steps.at(-1)!.detail, nextTryAt: new Date(now + retryMs) }
}

const unreadable: ConnectionTest = {
  ok: false,
  steps: [{ step: 'auth', ok: false, detail: `The mail server cannot be used: ${unreadableCredentials}.` }],
}
