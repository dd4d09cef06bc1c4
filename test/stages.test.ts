import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestApp } from './support/test-app.ts'

/** Stages that one organization may fill, and why others do not notice. */
const reasons: Record<string, string> = {
  'long tasks':
    'With two task processes there is one place. The others wait for one task at most: whoever used the least time is next.',
  'receiving site queries':
    'It has 40 of 50 places and may fill most of the queue. An email waits for one second at most; then its domain is its own site.',
}

/** Of places that clients and peers hold, which may be slow on purpose. Others find nine tenths of them. */
const sharesMin = 10

/** Stages of which an organization may hold more than that, with the reason. */
const heldByOthers: Record<string, string> = {
  'submitted emails':
    'It has 10 of 60 places. When all are in use, the slowest email of the organization with the most of them is ended.',
  'receiving site queries': 'An email waits for one second at most; then its domain is its own site.',
}

test('every stage of a running service has a share for each organization', async () => {
  const ports = { SUBMISSION_PORT: '0', BOUNCE_SMTP_PORT: '0', BOUNCE_DOMAIN: 'b.acme.example' }
  await using app = await startTestApp(ports, undefined, { tuning: { taskProcesses: 2 } })
  const stages = app.app.stages.list()
  expect(stages.length).toBeGreaterThan(10)
  const unshared = stages.filter(({ limits }) => {
    const { perOrganization, overall = 0, waitingPerOrganization, waitingMax } = limits
    // Of a batch, an organization has its turn among those that wait.
    const hasShare = perOrganization === 'in turn' || (perOrganization > 0 && perOrganization < overall)
    return !hasShare || waitingPerOrganization > waitingMax / 2
  })
  expect(unshared.map(({ name }) => name).sort()).toEqual(Object.keys(reasons).sort())
  const overall = (name: string) => stages.find((stage) => stage.name === name)?.limits.overall
  expect([overall('tasks'), overall('long tasks')]).toEqual([2, 1])
  const heldLong = stages.filter(({ heldBy, limits: { perOrganization, overall = 0 } }) => {
    if (heldBy === 'service' || perOrganization === 'in turn') return false
    return overall / perOrganization < sharesMin
  })
  expect(heldLong.map(({ name }) => name).sort()).toEqual(Object.keys(heldByOthers).sort())
  // A stage of another registry would not be listed.
  const created = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join('src', file), 'utf8').matchAll(/\.stage\('([^']+)'/g)])
    .map(([, name]) => name)
  expect(created.length).toBeGreaterThan(10)
  expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining(created))
})

test('the metrics tell how many calls run and wait in each stage', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { text } = await app.call('GET', '/metrics')
  for (const { name } of app.app.stages.list())
    expect(text).toContain(`waxwing_stage_calls{stage="${name}",state="waiting"} 0`)
})
