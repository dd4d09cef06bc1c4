import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signWebhook } from '../sdk/src/signature.ts'
import { watch } from './support/command.ts'
import { freePort } from './support/service.ts'
import { callUrl, startTestApp, type TestApp } from './support/test-app.ts'
import { until } from './support/until.ts'

let app: TestApp
const folder = 'dist/examples'
beforeAll(async () => {
  // As in examples/README.md.
  const compiled = spawnSync('npx', ['tsc', '-p', 'examples'])
  expect(String(compiled.stdout)).toBe('')
  app = await startTestApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const environmentOf = (settings: Record<string, string>) => ({ PATH: process.env.PATH ?? '', ...settings })
const start = (command: string, file: string, settings: Record<string, string>) =>
  watch(spawn(command, [file], { env: environmentOf(settings) }))

/** Returns the first link in the newest email with the subject. */
async function linkIn(subject: string): Promise<string> {
  const email = await until('the email', async () => {
    const { body } = await app.manage('GET', '/organization/inbox')
    return body.data.find((one: { subject: string }) => one.subject === subject)
  })
  const { body } = await app.manage('GET', `/organization/inbox/${email.id}`)
  const [, link] = /href="([^"]+\/t\/c\/[^"]+)"/.exec(body.data.html)!
  // The service does not know its port before it listens.
  return app.url + new URL(link!).pathname
}

test('the shop sets itself up, sends one email for each state of an order, and follows them', async () => {
  const shopUrl = `http://127.0.0.1:${await freePort()}`
  const settings = { WAXWING_URL: app.url, SHOP_URL: shopUrl }
  const account = { WAXWING_EMAIL: 'owner@acme.example', WAXWING_PASSWORD: 'correct horse battery' }
  const setUp = async () => {
    const env = environmentOf({ ...settings, ...account })
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'shop/setup.js')], { env })
    return Object.fromEntries(
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    )
  }
  const first = await setUp()
  const again = await setUp()
  const names = ['WAXWING_GROUP_ID', 'WAXWING_CONFIRMED_FLOW_ID', 'WAXWING_SHIPPED_FLOW_ID']
  expect(names.map((name) => again[name])).toEqual(names.map((name) => first[name]))

  await using shop = start(process.execPath, join(folder, 'shop/shop.js'), { ...settings, ...again })
  await shop.says('The shop is open')
  const order = { id: '1042', email: 'ada@example.com', item: 'Tea' }
  const placed = [
    await callUrl('POST', `${shopUrl}/orders`, { body: order }),
    await callUrl('POST', `${shopUrl}/orders`, { body: order }),
  ]
  expect(placed.map(({ status, body }) => [status, body.emails.length])).toEqual([
    [201, 1],
    [201, 1],
  ])
  const statusesOf = async () => {
    const { body } = await callUrl('GET', `${shopUrl}/orders/1042`)
    return body.emails.map(({ status }: { status: string }) => status).join()
  }
  await until('the webhook of the send', async () => (await statusesOf()) === 'sent')
  await fetch(await linkIn('We received your order 1042'), { redirect: 'manual' })
  await until('the webhook of the click', async () => (await statusesOf()) === 'clicked')
  await callUrl('POST', `${shopUrl}/orders/1042/ship`)
  await until('the second email', async () => (await statusesOf()) === 'clicked,sent')

  const forged = await callUrl('POST', `${shopUrl}/webhooks`, { body: { event_name: 'emailHardBounce' } })
  expect([forged.status, forged.text]).toEqual([400, 'missing_signature'])
})

test('the documented commands name files that exist', () => {
  const files = [...readFileSync('examples/README.md', 'utf8').matchAll(/(?:node|python3) (\S+)/g)].map(
    ([, file]) => file!,
  )
  expect(files).toContain('dist/examples/shop/setup.js')
  expect(files.filter((file) => !existsSync(file))).toEqual([])
})

/** Starts a receiver, and sends it test events from Waxwing, a duplicate and a forgery. */
async function checkReceiver(command: string, file: string) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const { body } = await app.manage('POST', '/organization/webhooks', { name: file, url, all_events: true })
  const { id, signing_secret: secret } = body.data
  await using receiver = start(command, file, { PORT: String(port), WAXWING_SECRET: secret })
  await receiver.says(`Waiting for webhooks on port ${port}`)
  await until('the port', () => callUrl('POST', url).then(Boolean, () => false))

  const sendTest = (event_name: string) => app.manage('POST', `/organization/webhooks/${id}/test`, { event_name })
  for (const [event, line] of [
    ['emailClick', 'clicked https://example.com/orders/1042'],
    ['emailHardBounce', 'bounced: user_unknown'],
    ['contactUnsubscribe', 'contactUnsubscribe for'],
  ] as const) {
    const sent = await sendTest(event)
    expect([event, sent.body.data.attempt.outcome]).toEqual([event, 'acknowledged'])
    await receiver.says(line)
  }

  const raw = JSON.stringify({ event_name: 'emailSent', data: { contact: { email: 'twice@example.com' } } })
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = signWebhook({ id: 'dlv_twice', timestamp, body: raw, secrets: [secret] })
  const statuses = [
    (await callUrl('POST', url, { headers, raw })).status,
    (await callUrl('POST', url, { headers, raw })).status,
    (await callUrl('POST', url, { headers, raw: `${raw} ` })).status,
    (await callUrl('POST', url, { raw })).status,
  ]
  expect(statuses).toEqual([200, 200, 400, 400])
  receiver.child.kill()
  const { stdout } = await receiver.ended
  expect(stdout.match(/emailSent for twice@example\.com/g)).toHaveLength(1)
}

test('the TypeScript receiver verifies deliveries and handles each once', async () => {
  await checkReceiver(process.execPath, join(folder, 'receiver-typescript/receiver.js'))
})

// test/webhook-vectors.test.ts runs its code without an installed Python, but without its server.
test('the Python receiver verifies deliveries and handles each once, if Python is installed', async () => {
  if (spawnSync('python3', ['--version']).status === 0)
    await checkReceiver('python3', resolve('examples/receiver-python/receiver.py'))
})
