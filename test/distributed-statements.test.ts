import { expect, test } from 'vitest'
import type { Db } from '../src/platform/db/db.ts'
import { asDistributed, collectStatements } from './support/as-distributed.ts'
import { appSecret, person, sendTo, tokens } from './support/readers.ts'
import { brokenRules } from './support/statement-rules.ts'
import { callUrl, startTestApp, type TestApp } from './support/test-app.ts'
import { until } from './support/until.ts'
import { startReceiver } from './support/webhook-receiver.ts'

/** The tables of the paths that accept, send, track and deliver. */
const hotTables =
  /\b(?:update|delete from|join|from) (?:jobs|lanes|messages|deliveries|webhooks|contacts|flows|events)\b/
const isBatch = (text: string) => /\bunnest\s*\(/.test(text) && !/^\s*insert\b/.test(text) && hotTables.test(text)

async function sendAndOpen(app: TestApp, email: string): Promise<void> {
  const ids = await sendTo(app, email)
  const opened = await callUrl('GET', `${app.url}/t/o/${tokens.sign('email', ids)}`, {
    headers: { 'user-agent': person },
  })
  expect(opened.status).toBe(200)
}

test('on a distributed database, every batch of the hot paths names one organization', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  const openFor = ({ db }: { db: Db }) => asDistributed(db)
  await using app = await startTestApp({ APP_SECRET: appSecret }, ['serve', 'work'], { openFor })
  const hook = { name: 'CRM', url: receiver.url(), all_events: true }
  const webhook = await app.manage('POST', '/organization/webhooks', hook)
  expect(webhook.status).toBe(201)
  using statements = collectStatements()
  const people = Array.from({ length: 5 }, (_, index) => `person-${index}@example.com`)
  await Promise.all(people.map((email) => sendAndOpen(app, email)))
  await until(
    'sent and opened of each to be delivered',
    async () => (await app.db`select from deliveries where status = 'delivered'`).length === 2 * people.length,
  )

  const batches = [...new Set(statements.texts)].filter(isBatch)
  expect(batches.length).toBeGreaterThan(8)
  expect(batches.filter((text) => !/organization_id = \$\d+/.test(text))).toEqual([])
  expect(batches.filter((text) => brokenRules(text).includes('several organizations'))).toEqual([])
})
