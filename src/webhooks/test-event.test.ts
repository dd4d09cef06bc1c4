import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { registerOther } from '../../test/support/people.ts'
import { startTestApp, type TestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'
import { startReceiver } from '../../test/support/webhook-receiver.ts'

type Manage = TestApp['manage']

async function subscribe(manage: Manage, url: string): Promise<string> {
  const made = await manage('POST', '/organization/webhooks', { name: 'Orders', url, all_events: true })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.data.id
}

const testEvent = (manage: Manage, id: string) =>
  manage('POST', `/organization/webhooks/${id}/test`, { event_name: 'emailOpen' })

test('test events of one organization use few sockets, and those of another are sent meanwhile', async () => {
  const open: ServerResponse[] = []
  await using slow = await startReceiver((response) => open.push(response), { plain: true })
  await using quick = await startReceiver((response) => response.end(), { plain: true })
  await using app = await startTestApp({}, ['serve'])
  const other = await registerOther(app)
  const id = await subscribe(app.manage, slow.url())

  const answers = Array.from({ length: 30 }, () => testEvent(app.manage, id))
  await until('the share to be used up', () => open.length === 3)
  const theirs = await testEvent(other.manage, await subscribe(other.manage, quick.url()))
  expect(theirs.body.data.attempt.outcome).toBe('acknowledged')
  expect(slow.posts).toHaveLength(3)

  const answerAll = setInterval(() => {
    for (const response of open.splice(0)) response.end()
  }, 10)
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  clearInterval(answerAll)
  expect(statuses.filter((status) => status === 200)).toHaveLength(8)
  expect(statuses.filter((status) => status === 429)).toHaveLength(22)
})
