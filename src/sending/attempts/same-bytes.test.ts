import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { getMessage } from '../../../test/support/messages.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

const html = `<p>{{ first_name }} {{ contact.last_name }} of {{ organization.name }}: {{ plan }},
  {{ contact.attributes.city }}, {{ "now" | date: "%s %N" }}, <a href="https://shop.example/{{ order_id }}">order</a></p>`
const flow = { kind: 'marketing', from_email: 'shop@acme.example', html, text: '{{ first_name }} {{ plan }}' }
const ada = {
  email: 'ada@example.com',
  first_name: 'Ada',
  last_name: 'Lovelace',
  attributes: { plan: 'pro', city: 'London', unused: 'secret' },
}
const edited = { first_name: 'Grace', last_name: 'Hopper', attributes: { plan: 'free', city: 'New York' } }

async function changeEverything(app: TestApp, contactId: string, flowId: string): Promise<void> {
  expect((await app.manage('PATCH', `/organization/contacts/${contactId}`, edited)).status).toBe(200)
  expect((await app.manage('PATCH', '/organization', { name: 'Renamed' })).status).toBe(200)
  expect((await app.manage('PATCH', `/organization/flows/${flowId}`, { html: '<p>New</p>' })).status).toBe(200)
}

test('a retried email has the same bytes and signature after the contact, organization and flow were edited', async () => {
  await using relay = await startRelay()
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-dkim-'))
  const keyFile = join(folder, 'key.pem')
  writeFileSync(keyFile, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await using app = await startTestApp({
    SMTP_URL: relay.url,
    MAIL_FROM: 'shop@acme.example',
    // The second attempt is in another second, which a signature made at that time would contain.
    MAIL_RETRY_DELAYS: '1.2',
    DKIM_DOMAIN: 'acme.example',
    DKIM_SELECTOR: 'test',
    DKIM_PRIVATE_KEY_FILE: keyFile,
  })
  const flowId = await createFlow(app, flow)
  const contactId: string = (await create(app, '/contacts', ada)).id
  const attempts: string[] = []
  relay.onData = async ({ raw }) => {
    attempts.push(raw)
    if (attempts.length > 1) return undefined
    await changeEverything(app, contactId, flowId)
    return { code: 451, text: '4.3.0 Try again later' }
  }

  await send(app, flowId)
  await until('the second attempt', () => attempts.length === 2)

  expect(attempts[1]).toBe(attempts[0])
  expect(attempts[0]).toMatch(/^DKIM-Signature: /)
  const mail = await until('the mail', () => relay.mails[0])
  expect(mail.mail.html).toContain('Ada Lovelace of Acme: pro,')
  expect(mail.mail.html).toContain('London')
  expect(mail.mail.to?.[0]?.name).toBe('Ada Lovelace')
  rmSync(folder, { recursive: true })
})

test('the message page shows the email as it was sent, and stores only the attributes that its template reads', async () => {
  await using app = await startTestApp()
  const flowId = await createFlow(app, flow)
  const contactId: string = (await create(app, '/contacts', ada)).id
  const messageId: string = (await send(app, flowId)).body.data.message_id
  const shown = () => getMessage(app, messageId)
  await until('the message to be sent', async () => (await shown()).status === 'sent')
  const { html: before } = await shown()
  await changeEverything(app, contactId, flowId)

  expect((await shown()).html).toBe(before)
  expect(before).toContain('Ada Lovelace of Acme: pro,')
  expect(await app.db`select recipient from messages`).toEqual([
    {
      recipient: {
        first_name: 'Ada',
        last_name: 'Lovelace',
        attributes: { plan: 'pro', city: 'London' },
        organization: 'Acme',
      },
    },
  ])

  await app.manage('DELETE', `/organization/contacts/${contactId}`)
  expect(await app.db`select recipient from messages`).toEqual([{ recipient: null }])
})
