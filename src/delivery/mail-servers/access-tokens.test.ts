import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { startReceiver } from '../../../test/support/webhook-receiver.ts'
import { newId } from '../../platform/values/ids.ts'
import { AccessTokens } from './access-tokens.ts'
import { mailServerBox, sealOAuth } from './credentials.ts'

const box = mailServerBox({ current: 'a secret that is long enough for tests', previous: undefined })

test('an access token is requested once at a time, kept until it expires, and requested again if it is rejected', async () => {
  await using testDb = await createTestDb({ registered: true })
  const { db } = testDb
  let count = 0
  await using provider = await startReceiver(
    (response) =>
      response.end(JSON.stringify({ access_token: `token-${++count}`, expires_in: count === 3 ? 1 : 3_600 })),
    { plain: true },
  )
  const client = {
    user: 'ada',
    clientId: 'c',
    clientSecret: 's',
    refreshToken: 'r',
    tokenUrl: provider.url(),
    scope: null,
  }
  const oauth = sealOAuth(box, client)
  const id = newId('mse')
  const [row] = await db.statement<{ organizationId: never }>`
    insert into mail_servers (organization_id, id, name, url, oauth, host, port)
    select id, ${id}, 'Main', '', ${oauth}, 'smtp.example.com', 587 from organizations
    returning organization_id`
  const tokens = new AccessTokens({ db, box, egress: { allowPrivate: true } })
  const signIn = tokens.signIn({ organizationId: row!.organizationId, id, oauth }, 'ada')
  const many = await Promise.all(Array.from({ length: 20 }, () => signIn.accessToken()))
  expect(new Set([...many, await signIn.accessToken()])).toEqual(new Set(['token-1']))
  signIn.onRejected?.()
  expect([await signIn.accessToken(), await signIn.accessToken()]).toEqual(['token-2', 'token-2'])
  tokens.close()
})

test('an answer that is too large or of another kind gives no token', async () => {
  await using testDb = await createTestDb()
  const answers = [`{"access_token":"t","x":"${'x'.repeat(20_000)}"}`, '[]', 'null', '"t"', '{"access_token":7}']
  await using provider = await startReceiver((response) => response.end(answers.shift()), { plain: true })
  const client = {
    user: 'ada',
    clientId: 'c',
    clientSecret: 's',
    refreshToken: 'r',
    tokenUrl: provider.url(),
    scope: null,
  }
  const tokens = new AccessTokens({ db: testDb.db, box, egress: { allowPrivate: true } })
  const { accessToken } = tokens.signInOnce(client)
  while (answers.length > 0) await expect(accessToken()).rejects.toThrow(/the response has no access token$/)
  tokens.close()
})
