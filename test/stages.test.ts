import { expect, test } from 'vitest'
import { startTestApp } from './support/test-app.ts'

test('every stage of a running service has a share for each organization', async () => {
  await using app = await startTestApp({ SUBMISSION_PORT: '0', BOUNCE_SMTP_PORT: '0', BOUNCE_DOMAIN: 'b.acme.example' })
  const stages = app.app.stages.list()
  expect(stages.length).toBeGreaterThan(10)
  const unshared = stages.filter(({ limits }) => {
    const { perOrganization, overall = 1, waitingPerOrganization, waitingMax } = limits
    const hasShare =
      perOrganization === 'in turn' || (perOrganization > 0 && (perOrganization < overall || overall === 1))
    return !hasShare || waitingPerOrganization >= waitingMax
  })
  expect(unshared).toEqual([])
})

test('the metrics tell how many calls run and wait in each stage', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { text } = await app.call('GET', '/metrics')
  for (const { name } of app.app.stages.list())
    expect(text).toContain(`waxwing_stage_calls{stage="${name}",state="waiting"} 0`)
})
