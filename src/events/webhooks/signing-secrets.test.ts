import { expect, test } from 'vitest'
import { createWebhook, createWorld } from '../../../test/support/event-world.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import type { Db } from '../../platform/db/db.ts'
import { countSealed, reseal } from '../../platform/db/sealed.ts'
import { isMarked, markSecret } from '../../platform/db/secret-mark.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import type { SealedSecrets } from './signing-secrets.sql.ts'
import { openSecrets, webhookSecretBox, webhookSecrets } from './signing-secrets.ts'

const selectAll = (db: Db) => db<SealedSecrets>`select secret, previous_secret from webhooks`

const secretsOf = (current: string, previous?: string) => ({ current, previous })

test('secrets encrypted with the previous APP_SECRET are encrypted again with the current one', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const { organizationId } = await createWorld(db)
  const [before, after] = [webhookSecretBox(secretsOf('first')), webhookSecretBox(secretsOf('second'))]
  const both = secretsOf('second', 'first')
  const count = () => countSealed(db, both, webhookSecrets)
  await createWebhook(db, organizationId)
  await db.statement`update webhooks set secret = ${before.seal('whsec_a')}, previous_secret = ${before.seal('whsec_b')}`
  const opened = async (box: SecretBox) => (await selectAll(db)).map((row) => openSecrets(row, (it) => box.open(it)))
  expect(await opened(after)).toEqual([undefined])
  expect(await count()).toMatchObject({ dependent: 1, undecryptable: 0 })

  await reseal(db, both, webhookSecrets)
  expect(await count()).toMatchObject({ dependent: 0, undecryptable: 0 })
  expect(await opened(after)).toEqual([['whsec_a', 'whsec_b']])
  const [stored] = await selectAll(db)
  await reseal(db, both, webhookSecrets)
  expect(await selectAll(db)).toEqual([stored])
})

test('secrets that cannot be decrypted stay unchanged, and an unreadable previous secret is skipped', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const { organizationId } = await createWorld(db)
  const [lostSecrets, ourSecrets] = [secretsOf('lost'), secretsOf('ours', 'before')]
  const [lost, ours] = [webhookSecretBox(lostSecrets), webhookSecretBox(ourSecrets)]
  await createWebhook(db, organizationId)
  await db.statement`update webhooks set secret = ${ours.seal('whsec_a')}, previous_secret = ${lost.seal('whsec_b')}`
  const stored = await selectAll(db)
  await reseal(db, ourSecrets, webhookSecrets)
  expect(await selectAll(db)).toEqual(stored)
  expect(openSecrets(stored[0]!, (sealed) => ours.open(sealed))).toEqual(['whsec_a'])
  expect(await countSealed(db, ourSecrets, webhookSecrets)).toMatchObject({ undecryptable: 0 })
  expect(await countSealed(db, lostSecrets, webhookSecrets)).toMatchObject({ undecryptable: 1 })
})

const [oldSecret, newSecret] = ['the old secret of the installation', 'the new secret of the installation']
const [oldBox, newBox] = [oldSecret, newSecret].map((current) =>
  webhookSecretBox({ current, previous: undefined }),
) as [SecretBox, SecretBox]

/** Starts a service whose database has a webhook with a secret encrypted with the old APP_SECRET. */
async function startAfterRotation(environment: Record<string, string>) {
  const openFor = async ({ db }: TestDb) => {
    const { organizationId } = await createWorld(db)
    await createWebhook(db, organizationId)
    await db.statement`update webhooks set secret = ${oldBox.seal('whsec_a')}`
    return db
  }
  return startTestApp({ APP_SECRET: newSecret, ...environment }, ['serve', 'work'], { openFor })
}

test('after a rotation, secrets are encrypted again when the service starts', async () => {
  await using app = await startAfterRotation({ APP_SECRET_PREVIOUS: oldSecret })
  await until('the new secret to be enough', async () => newBox.open((await selectAll(app.db))[0]!.secret))
})

test('a process with the old secret does not encrypt secrets again after another one has started with the new one', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const [older, newer] = [
    { current: oldSecret, previous: newSecret },
    { current: newSecret, previous: oldSecret },
  ]
  const marks = async () => [await isMarked(db, older), await isMarked(db, newer)]
  await markSecret(db, older)
  expect(await marks()).toEqual([true, false])
  await markSecret(db, newer)
  expect(await marks()).toEqual([false, true])
  // Both can read what the other one encrypts.
  expect(webhookSecretBox(older).open(webhookSecretBox(newer).seal('whsec_a'))).toBe('whsec_a')
  expect(webhookSecretBox(newer).open(webhookSecretBox(older).seal('whsec_a'))).toBe('whsec_a')
})

test('secrets that need a missing APP_SECRET_PREVIOUS are reported in the metrics and the log', async () => {
  await using app = await startAfterRotation({})
  const metric = async () =>
    (await app.call('GET', '/metrics')).text.match(/^waxwing_undecryptable_secrets (\d+)$/m)?.[1]
  expect(await until('the check', metric)).toBe('1')
})
