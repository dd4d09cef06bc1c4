import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { countTurns, distinctNames } from '../../../../test/support/costly-json.ts'
import { createFlow, send } from '../../../../test/support/flows.ts'
import { getMessage } from '../../../../test/support/messages.ts'
import { startRelay } from '../../../../test/support/relay.ts'
import { startSharedApp, type TestApp } from '../../../../test/support/test-app.ts'
import { until } from '../../../../test/support/until.ts'
import { mailgunReports } from './mailgun.ts'
import { postmarkReports } from './postmark.ts'
import { sendgridReports } from './sendgrid.ts'

const newApp = await startSharedApp()

/** For marketing email only, so that the email of these tests goes to the built-in inbox. */
async function addServer(app: TestApp, settings: object) {
  const answer = await app.manage('POST', '/organization/mail-servers', {
    ...{ name: 'Main', host: '127.0.0.1', port: 9, username: 'ada', password: 'p', kinds: ['marketing'], ...settings },
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data
}

async function sentMessage(app: TestApp): Promise<string> {
  const { message_id: id } = (await send(app, await createFlow(app))).body.data
  const get = () => getMessage(app, id)
  await until('the email', async () => (await get()).status === 'sent')
  return id
}

const post = (app: TestApp, webhookUrl: string, body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', new URL(webhookUrl).pathname, {
    raw: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

const mailgunBounce = (messageId: string) => ({
  'event-data': {
    ...{ event: 'failed', severity: 'permanent', reason: 'bounce' },
    'delivery-status': { code: 550, message: '5.1.1 No such user' },
    message: { headers: { 'message-id': `${messageId}@acme.example` } },
  },
})

test('reports of a provider concern only messages of the organization of the mail server', async () => {
  const [app, other] = [await newApp(), await newApp()]
  const messageId = await sentMessage(app)
  const foreign = await addServer(other, { preset: 'mailgun' })
  const received = await post(app, foreign.webhook_url, mailgunBounce(messageId))
  expect(received.body.data).toEqual({ received: 1, recorded: 0 })
  const { webhook_url: url, id } = await addServer(app, { preset: 'mailgun' })
  expect((await post(app, url, mailgunBounce(messageId))).body.data).toEqual({ received: 1, recorded: 1 })
  expect((await post(app, url, mailgunBounce(messageId))).body.data).toEqual({ received: 1, recorded: 0 })
  const { data } = (await app.manage('GET', `/organization/messages/${messageId}`)).body
  expect(data.status).toBe('bounced')

  await app.manage('DELETE', `/organization/mail-servers/${id}`)
  expect((await post(app, url, mailgunBounce(messageId))).status).toBe(404)
  const forged = `${url.slice(0, -'x/events'.length)}A/events`
  expect((await post(app, forged, mailgunBounce(messageId))).status).toBe(404)
})

test('with a secret, the signature of the provider is required', async () => {
  const app = await newApp()
  const messageId = await sentMessage(app)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const secret = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const server = await addServer(app, { preset: 'sendgrid', webhook_secret: secret })
  expect(server).toMatchObject({ has_webhook_secret: true })
  const events = [{ event: 'bounce', status: '5.1.1', reason: '550', 'smtp-id': `<${messageId}@acme.example>` }]
  expect((await post(app, server.webhook_url, events)).status).toBe(401)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = sign('sha256', Buffer.from(timestamp + JSON.stringify(events)), privateKey).toString('base64')
  const signed = await post(app, server.webhook_url, events, {
    'x-twilio-email-event-webhook-signature': signature,
    'x-twilio-email-event-webhook-timestamp': timestamp,
  })
  expect(signed.body.data).toEqual({ received: 1, recorded: 1 })

  const change = (body: object) => app.manage('PATCH', `/organization/mail-servers/${server.id}`, body)
  expect((await change({ webhook_secret: 'no key' })).status).toBe(422)
  expect((await change({ name: 'Other' })).body.data.has_webhook_secret).toBe(true)
  expect((await change({ webhook_secret: null })).body.data.has_webhook_secret).toBe(false)
  const unknown = await addServer(app, {})
  expect(unknown.webhook_url).toBeNull()
})

test('email through a mail server has the header by which its provider identifies it', async () => {
  const app = await newApp()
  await using relay = await startRelay()
  const place = { host: '127.0.0.1', port: relay.port, security: 'none', username: null, password: undefined }
  const server = await addServer(app, { preset: 'postmark', ...place, kinds: ['transactional'] })
  const messageId = await sentMessage(app)
  const signed = relay.mails[0]!.mail.headers.find(({ key }) => key === 'x-pm-metadata-waxwing-id')!.value
  const bounce = { RecordType: 'Bounce', Type: 'HardBounce', Details: '550', Metadata: { 'waxwing-id': signed } }
  expect((await post(app, server.webhook_url, bounce)).body.data).toEqual({ received: 1, recorded: 1 })
  expect((await getMessage(app, messageId)).status).toBe('bounced')
})

test.each(['amazon_ses', 'sendgrid', 'mailgun', 'postmark'])(
  'reports of %s with more field names than can be parsed in milliseconds are rejected',
  async (preset) => {
    const app = await newApp()
    const { webhook_url: url } = await addServer(app, { preset })
    expect((await post(app, url, distinctNames(30_000))).status).toBe(413)
  },
)

test.each([
  ['sendgrid', sendgridReports(undefined)],
  ['mailgun', mailgunReports(undefined, async () => true)],
  ['postmark', postmarkReports(undefined)],
])('costly reports of %s are read one in a turn of the event loop', async (_provider, read) => {
  using turns = countTurns()
  const body = Buffer.from(distinctNames(8_000))
  const readAt = await Promise.all(
    Array.from({ length: 10 }, async () => {
      await read({ headers: {}, body, turns: 'one' })
      return turns.turn
    }),
  )
  expect(new Set(readAt).size).toBe(10)
})
