import { expect, test } from 'vitest'
import { asDistributed } from '../../../../test/support/as-distributed.ts'
import { createTestDb } from '../../../../test/support/test-db.ts'
import { withResolvers } from '../../../../test/support/with-resolvers.ts'
import { StageRegistry } from '../../runtime/stage-registry.ts'
import { newId, type OrganizationId } from '../../values/ids.ts'
import type { Db } from '../db.ts'
import { createBatcher, createNodeBatcher, perOrganization } from './batches.ts'
import { findNodesOf } from './nodes.ts'

const distributed = { isDistributed: true } as Db
const plain = { isDistributed: false } as Db
const [a, b] = [newId('org'), newId('org')]
const items = [a, b, a].map((organizationId, n) => ({ organizationId, n }))
const nodeDown = () => Object.assign(new Error('connection to the remote node failed'), { code: '08006' })

test('a database that is not distributed gets all items at once', async () => {
  const calls: number[][] = []
  const work = async (own: readonly { n: number }[]) => {
    calls.push(own.map(({ n }) => n))
    return own
  }
  expect(await perOrganization(plain, items, work, () => {})).toEqual(items)
  expect(calls).toEqual([[0, 1, 2]])
})

test('a node that is down fails only the items of its organizations', async () => {
  const faults: number[] = []
  const work = async (own: readonly { organizationId: OrganizationId; n: number }[]) => {
    if (own[0]!.organizationId === b) throw nodeDown()
    return own.map(({ n }) => n)
  }
  const done = await perOrganization(distributed, items, work, (own) => faults.push(...own.map(({ n }) => n)))
  expect([done, faults]).toEqual([[0, 2], [1]])
  const bug = async () => {
    throw new Error('syntax error')
  }
  await expect(perOrganization(distributed, items, bug, () => {})).rejects.toThrow('syntax error')
})

test('batches of an organization neither wait for nor fail with those of another', async () => {
  const { promise: released, resolve: release } = withResolvers()
  const batches: number[][] = []
  const batcher = createBatcher<(typeof items)[number], number>(distributed, new StageRegistry(), {
    name: 'test',
    organizationOf: ({ organizationId }) => organizationId,
    waitingPerOrganization: 10,
    itemsMax: 10,
    waitingMax: 10,
    run: async (own) => {
      batches.push(own.map(({ n }) => n))
      if (own[0]!.organizationId === b) {
        await released
        throw nodeDown()
      }
      return own.map(({ n }) => ({ ok: true, value: n }))
    },
  })
  const [first, stuck, third] = items.map((item) => batcher.add(item))
  expect(await Promise.all([first, third])).toEqual([0, 2])
  release()
  await expect(stuck).rejects.toThrow('remote node')
  await batcher.drained()
  expect(batches).toEqual([[0, 2], [1]])
})

test('batches of the organizations of a node neither wait for nor fail with those of another', async () => {
  await using testDb = await createTestDb()
  const db = await asDistributed(testDb.db)
  const organizationIds = Array.from({ length: 40 }, () => newId('org'))
  const nodes = await findNodesOf(db, organizationIds)
  expect(new Set(nodes.values()).size).toBe(2)
  const down = nodes.get(organizationIds[0]!)
  const batches: OrganizationId[][] = []
  const batcher = createNodeBatcher<OrganizationId, string>(db, new StageRegistry(), {
    name: 'test',
    organizationOf: (id) => id,
    waitingPerOrganization: 100,
    itemsMax: 100,
    waitingMax: 100,
    run: async (ids) => {
      batches.push(ids)
      if (nodes.get(ids[0]!) === down) throw nodeDown()
      return ids.map(() => ({ ok: true, value: 'done' }))
    },
  })
  const results = organizationIds.map((id) => batcher.add(id).catch(() => 'failed'))
  await batcher.drained()
  expect(await Promise.all(results)).toEqual(organizationIds.map((id) => (nodes.get(id) === down ? 'failed' : 'done')))
  expect(batches.map((ids) => new Set(ids.map((id) => nodes.get(id))).size)).toEqual([1, 1])
})
