import { expect, test } from 'vitest'
import { newId } from '../../values/ids.ts'
import { sql } from '../sql.ts'
import { insertRows } from './insert-rows.ts'
import { onShards } from './shards.ts'

const [a, b] = [newId('org'), newId('org')]
const cluster = Object.assign(async () => [], { isDistributed: true, run: async () => [] })
const oneServer = Object.assign(async () => [], { isDistributed: false, run: async () => [] })

const find = (ids: string[]) => sql`
  select from unnest(${ids}::uuid[], ${ids.map(() => 1)}::int[]) with ordinality as key (organization_id, id, position)
  cross join lateral (select from jobs where jobs.organization_id = key.organization_id offset 0) as job
  left join lanes on lanes.organization_id = job.organization_id and lanes.kind = ${'k'}`

test('a statement about rows of one organization names it for each table', () => {
  const { text, values } = onShards(find([a, a]))
  expect(text).toContain('jobs.organization_id = key.organization_id and jobs.organization_id = $4 offset 0')
  expect(text).toContain(
    'on lanes.organization_id = job.organization_id and lanes.organization_id = $4 and lanes.kind = $3',
  )
  expect(values).toHaveLength(4)
  expect(values[3]).toBe(a)
})

test('a statement about rows of several organizations names them all, without the fences that Citus rejects', () => {
  const { text, values } = onShards(find([a, b, a]))
  expect(text).toContain(
    'jobs.organization_id = key.organization_id and jobs.organization_id = any ($4::uuid[]) ) as job',
  )
  expect(values[3]).toEqual([a, b])
})

test('a statement that names its organization, or has no rows, is not changed', () => {
  const named = sql`update jobs set attempt = 1 where organization_id = ${a}`
  expect(onShards(named)).toBe(named)
  const none = find([])
  expect(onShards(none)).toBe(none)
})

test('rows to insert are arrays, and on a cluster a list of values', () => {
  const columns = { id: ['uuid', [a, b]], due_at: ['timestamptz', [null, undefined]] } as const
  expect(insertRows(oneServer, columns, 'id, greatest(due_at, now())').text).toBe(
    'select id, greatest(due_at, now()) from unnest($1::uuid[], $2::timestamptz[]) as row (id, due_at)',
  )
  expect(insertRows(cluster, columns, 'id, greatest(due_at, now())')).toMatchObject({
    text: 'values ($1::uuid, greatest($2::timestamptz, now())), ($3::uuid, greatest($4::timestamptz, now()))',
    values: [a, null, b, null],
  })
})
