import { expect, test } from 'vitest'
import { createTestDb } from '../../../test/support/test-db.ts'
import { newId } from '../../platform/values/ids.ts'
import { AddressPolicy } from './address-policy.ts'

test('a pending lookup does not override a changed setting', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const id = newId('org')
  await db.statement`insert into organizations (id, name, keep_addresses) values (${id}, 'Acme', true)`
  const changeOnce = async () => {
    const changed =
      await db.statement`update organizations set keep_addresses = false where keep_addresses returning id`
    if (changed.length > 0) policy.forget(id)
  }
  const whileItChanges = async <Row>(strings: TemplateStringsArray, ...values: unknown[]) => {
    const rows = await db<Row>(strings, ...values)
    await changeOnce()
    return rows
  }
  const policy = new AddressPolicy(Object.assign(whileItChanges, { run: db.run }))

  expect(await policy.keepsAddresses(id)).toBe(false)
  expect(await policy.keepsAddresses(id)).toBe(false)
})
