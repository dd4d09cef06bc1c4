import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type { ApiDocument } from '../src/platform/http/types.ts'
import {
  contactChangeNames,
  organizationEventNames,
  type WebhookEventName,
  webhookEventNames,
} from '../src/platform/values/event-types.ts'
import { fill } from './support/broadcasts.ts'
import { addMailServer } from './support/mail-servers.ts'
import { startNameServer } from './support/name-server.ts'
import { clickPath, startWithReader, tokens } from './support/readers.ts'
import { startRelay } from './support/relay.ts'
import { create } from './support/resources.ts'
import { freePort } from './support/service.ts'
import type { TestApp } from './support/test-app.ts'
import { until } from './support/until.ts'
import { startReceiver } from './support/webhook-receiver.ts'

type Webhook = {
  post: {
    parameters: { name: string }[]
    requestBody: { content: { 'application/json': { schema: object; example: unknown } } }
  }
}

/** Also rejects fields that the document does not describe, so that none is forgotten. */
function complete(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(complete)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, complete(value)]))
  if (typeof copy.$ref === 'string') copy.$ref = copy.$ref.replace('#/components/schemas/', '#/$defs/')
  return 'properties' in copy ? { ...copy, additionalProperties: false } : copy
}

/** A mail server fails for a while and works again. */
async function failAndRecover(app: TestApp): Promise<void> {
  const port = await freePort()
  const id = await addMailServer(app, { url: `smtp://127.0.0.1:${port}` })
  const check = () => app.manage('POST', `/organization/mail-servers/${id}/test`)
  await check()
  await app.db.statement`update mail_servers set failing_since = now() - interval '1 minute'`
  await check()
  await using _relay = await startRelay({ port })
  await check()
}

test('real deliveries of every event type match the webhooks of the OpenAPI document', async () => {
  await using receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  const password = 'the password of postmark'
  const published = new Map<string, string[]>()
  await using names = await startNameServer(
    (name) => (published.has(name) ? [] : 'no such name'),
    (name) => ({ txt: published.get(name) ?? [] }),
  )
  await using app = await startWithReader({ PROVIDER_POSTMARK_TOKEN: password, DNS_SERVERS: names.address })
  const document: ApiDocument = (await app.call('GET', '/openapi.json')).body
  const webhooks = document.webhooks as unknown as Record<WebhookEventName, Webhook>
  expect(Object.keys(webhooks)).toEqual([...webhookEventNames])
  const body = { name: 'All', url: receiver.url(), all_events: true }
  const webhook = await create(app, '/webhooks', body)
  const changes = {
    name: 'Changes',
    url: receiver.url(),
    event_types: [...contactChangeNames, ...organizationEventNames],
  }
  await create(app, '/webhooks', changes)
  await app.manage('PATCH', '/organization', { keep_addresses: true })

  const reader = await app.newReader()
  await app.get(`/t/o/${tokens.sign('email', reader.ids)}`)
  await app.get(clickPath(reader.ids, 'https://shop.example/'))
  await app.get(`/u/${tokens.sign('unsubscribe_link', reader.ids)}`, {}, 'POST')
  const report = async (event: object) => {
    const { ids } = await app.newReader()
    const authorization = `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`
    const sent = { ...event, Metadata: { 'waxwing-id': tokens.sign('bounce', ids) } }
    await app.call('POST', '/providers/postmark/events', { headers: { authorization }, body: sent })
  }
  await report({ RecordType: 'Bounce', Type: 'HardBounce', Details: '550 5.1.1 No such user' })
  await report({ RecordType: 'Bounce', Type: 'SoftBounce', Details: '452 4.2.2 The mailbox is over quota' })
  await report({ RecordType: 'SpamComplaint' })
  const [contact] = (await app.manage('GET', '/organization/contacts?query=ada')).body.data
  await app.manage('PATCH', `/organization/contacts/${contact.id}`, { status: 'unsubscribed' })
  const grace = await create(app, '/contacts', { email: 'grace@example.com' })
  for (const change of [{ first_name: 'Grace' }, { status: 'unsubscribed' }, { status: 'subscribed' }])
    await app.manage('PATCH', `/organization/contacts/${grace.id}`, change)
  const news = await fill(app)
  const broadcast = await news.create([await news.group('News', ['ida@example.com'])], { flow_id: news.flow })
  await broadcast.start()
  const domain = await create(app, '/domains', { name: 'example.com' })
  for (const { name, value } of domain.records) published.set(name, [value])
  await app.manage('POST', `/organization/domains/${domain.id}/verify`)
  await failAndRecover(app)
  for (const event_name of webhookEventNames)
    await app.manage('POST', `/organization/webhooks/${webhook.id}/test`, { event_name })

  const received = () => receiver.posts.map((post) => ({ ...post, event: JSON.parse(post.body.toString()) }))
  const isReal = ({ event }: { event: { data: { test?: boolean } } }) => !event.data.test
  await until('a delivery of every event', () => {
    const names = received()
      .filter(isReal)
      .map(({ event }) => event.event_name)
    return (
      webhookEventNames.every((name) => names.includes(name)) &&
      names.filter((name) => name === 'contactUnsubscribe').length === 3
    )
  })
  const ajv = new Ajv2020({ allErrors: true })
  ajv.addSchema({ $defs: complete(document.components.schemas) }, 'document')
  for (const name of webhookEventNames) {
    const { parameters, requestBody } = webhooks[name].post
    const { schema, example } = requestBody.content['application/json']
    const { $ref } = schema as { $ref: string }
    const validate = ajv.compile({ $ref: $ref.replace('#/components/schemas/', 'document#/$defs/') })
    const deliveries = received().filter(({ event }) => event.event_name === name)
    for (const value of [example, ...deliveries.map(({ event }) => event)])
      expect([name, validate(value), ajv.errorsText(validate.errors), JSON.stringify(value)]).toEqual([
        name,
        true,
        'No errors',
        JSON.stringify(value),
      ])
    for (const { headers } of deliveries)
      for (const parameter of parameters) expect(headers[parameter.name.toLowerCase()]).toBeTruthy()
  }
})
