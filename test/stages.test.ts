import { expect, test } from 'vitest'
import { startTestApp } from './support/test-app.ts'

/** Calls of one organization that may wait: more would fill the memory, or delay its own calls for too long. */
const waitingMax = 5_000

test('every stage of a running service has a share for each organization', async () => {
  await using app = await startTestApp({ SUBMISSION_PORT: '0', BOUNCE_SMTP_PORT: '0', BOUNCE_DOMAIN: 'b.acme.example' })
  const stages = app.app.stages.list()
  expect(stages.length).toBeGreaterThan(10)
  const unshared = stages.filter(({ limits }) => {
    const { perOrganization, overall, waitingPerOrganization } = limits
    return perOrganization < 1 || (perOrganization >= overall && overall > 1) || waitingPerOrganization > waitingMax
  })
  expect(unshared).toEqual([])
})

test('the metrics tell how many calls run and wait in each stage', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { text } = await app.call('GET', '/metrics')
  for (const { name } of app.app.stages.list())
    expect(text).toContain(`waxwing_stage_calls{stage="${name}",state="waiting"} 0`)
})
