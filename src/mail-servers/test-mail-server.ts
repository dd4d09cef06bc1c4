import type { Db } from '../db/db.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import type { Connector } from './connector.ts'
import { unreadableCredentials } from './credentials.ts'
import type { ConnectionInput } from './mail-servers.shapes.ts'
import { recordTest, type SealedMailServer } from './mail-servers.sql.ts'
import { storedTarget, targetOf } from './settings.ts'
import { type ConnectionTest, testConnection } from './test-connection.ts'

export type TestParts = {
  db: Db
  box: SecretBox
  allowPrivate: boolean
  connector: Connector
  /** The time for a test as a whole. */
  testMs: number
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
  await recordTest(db.statement, server, failureOf(result))
  return result
}

/** Throws `Refusal` if the settings are invalid. */
export async function testSettings(parts: TestParts, input: ConnectionInput): Promise<ConnectionTest> {
  const { connector, allowPrivate, testMs } = parts
  const target = targetOf(input, undefined, { allowPrivate })
  return testConnection(target, connector.optionsForTest(target.oauth), testMs)
}

const failureOf = ({ ok, steps }: ConnectionTest) => (ok ? null : (steps.at(-1)?.detail ?? null))

const unreadable: ConnectionTest = {
  ok: false,
  steps: [{ step: 'auth', ok: false, detail: `The mail server cannot be used: ${unreadableCredentials}.` }],
}
