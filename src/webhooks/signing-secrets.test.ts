import { expect, test } from 'vitest'
import { createWebhook, createWorld } from '../../test/support/event-world.ts'
import { createTestDb } from '../../test/support/test-db.ts'
import { SecretBox } from '../secrets/secrets.ts'
import { selectAllSecrets } from './signing-secrets.sql.ts'
import { openSecrets, resealSecrets } from './signing-secrets.ts'

const boxOf = (current: string, previous?: string) => new SecretBox({ current, previous }, 'tests')

test('secrets encrypted with the previous APP_SECRET are encrypted again with the current one', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const { organizationId } = await createWorld(db)
  const [before, both, after] = [boxOf('first'), boxOf('second', 'first'), boxOf('second')]
  await createWebhook(db, organizationId)
  await db.statement`update webhooks set secret = ${before.seal('whsec_a')}, previous_secret = ${before.seal('whsec_b')}`
  const opened = async (box: SecretBox) =>
    (await selectAllSecrets(db)).map((row) => openSecrets(row, (it) => box.open(it)))
  expect(await opened(after)).toEqual([undefined])

  await resealSecrets({ db, box: both })
  expect(await opened(after)).toEqual([['whsec_a', 'whsec_b']])
  const [stored] = await selectAllSecrets(db)
  await resealSecrets({ db, box: both })
  expect(await selectAllSecrets(db)).toEqual([stored])
})

test('secrets that cannot be decrypted stay unchanged, and an unreadable previous secret is skipped', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const { organizationId } = await createWorld(db)
  const [lost, ours] = [boxOf('lost'), boxOf('ours', 'before')]
  await createWebhook(db, organizationId)
  await db.statement`update webhooks set secret = ${ours.seal('whsec_a')}, previous_secret = ${lost.seal('whsec_b')}`
  const stored = await selectAllSecrets(db)
  await resealSecrets({ db, box: ours })
  expect(await selectAllSecrets(db)).toEqual(stored)
  expect(openSecrets(stored[0]!, (sealed) => ours.open(sealed))).toEqual(['whsec_a'])
})
