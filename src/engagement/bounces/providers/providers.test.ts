import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { distinctNames } from '../../../../test/support/costly-json.ts'
import { getMessage } from '../../../../test/support/messages.ts'
import { sendTo, startWithReader, tokens } from '../../../../test/support/readers.ts'
import { startRelay, type TestRelay } from '../../../../test/support/relay.ts'
import { until } from '../../../../test/support/until.ts'
import type { MailIds } from '../../../platform/secrets/tokens.ts'
import { newId, toText } from '../../../platform/values/ids.ts'
import { findReported } from '../correlate.ts'
import { deleteExpiredSignatures } from './signatures.sql.ts'

const sendgridKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const mailgunKey = 'the signing key of mailgun'

let app: Awaited<ReturnType<typeof startWithReader>>
let relay: TestRelay
beforeAll(async () => {
  relay = await startRelay()
  app = await startWithReader({
    SMTP_URL: relay.url,
    PROVIDER_SES_TOPICS: 'arn:aws:sns:eu-west-1:1:bounces',
    PROVIDER_SENDGRID_KEY: sendgridKey.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    PROVIDER_MAILGUN_KEY: mailgunKey,
    PROVIDER_POSTMARK_TOKEN: 'the password of postmark',
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
})

let people = 0
async function recipient() {
  const email = `reader${++people}@example.com`
  const ids = await sendTo(app, email)
  const events = async () => (await app.events()).filter(({ messageId }) => messageId === ids.messageId)
  return { ids, email, events, signed: tokens.sign('bounce', ids) }
}
const post = (provider: string, body: string, headers: Record<string, string> = {}) =>
  app.call('POST', `/providers/${provider}/events`, {
    raw: body,
    headers: { 'content-type': 'application/json', ...headers },
  })

function sendgrid(events: unknown, change: Record<string, string> = {}) {
  const body = JSON.stringify(events)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = sign('sha256', Buffer.from(timestamp + body), sendgridKey.privateKey).toString('base64')
  const headers = {
    'x-twilio-email-event-webhook-signature': signature,
    'x-twilio-email-event-webhook-timestamp': timestamp,
  }
  return post('sendgrid', body, { ...headers, ...change })
}

function mailgunPost(event: unknown, { key = mailgunKey, ageSeconds = 0, token = String(randomUUID()) } = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
  const signature = createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex')
  return JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event })
}
const mailgun = (event: unknown, options = {}) => post('mailgun', mailgunPost(event, options))

const postmark = (event: unknown, credential = 'hook:the password of postmark') =>
  post('postmark', JSON.stringify(event), { authorization: `Basic ${Buffer.from(credential).toString('base64')}` })

const messageIdOf = ({ messageId }: MailIds) => `${toText('msg', messageId)}@acme.example`

test('emails have the headers by which configured providers identify them', async () => {
  const { signed, email } = await recipient()
  const mail = await until('the mail', () => relay.mails.find((each) => each.recipient === email))
  const header = (name: string) => mail.mail.headers.find(({ key }) => key === name)?.value
  expect(header('x-waxwing-id')).toBe(signed)
  expect(header('x-ses-message-tags')).toBe(`waxwing-id=${signed}`)
  expect(JSON.parse(header('x-smtpapi')!)).toEqual({ unique_args: { 'waxwing-id': signed } })
  expect(JSON.parse(header('x-mailgun-variables')!)).toEqual({ 'waxwing-id': signed })
  expect(header('x-pm-metadata-waxwing-id')).toBe(signed)
})

test('SendGrid: bounces and complaints of a signed request are recorded once', async () => {
  const [hard, blocked, spam] = [await recipient(), await recipient(), await recipient()]
  const [known, unsubscribed] = [await recipient(), await recipient()]
  const events = [
    { event: 'processed', email: hard.email, 'waxwing-id': hard.signed },
    {
      event: 'bounce',
      type: 'bounce',
      status: '5.1.1',
      reason: '550 5.1.1 The email account does not exist',
      timestamp: 1_700_000_000,
      'smtp-id': `<${messageIdOf(hard.ids)}>`,
    },
    { event: 'bounce', type: 'blocked', reason: '554 5.7.1 blocked using a list', 'waxwing-id': blocked.signed },
    { event: 'spamreport', 'waxwing-id': spam.signed },
    { event: 'dropped', reason: 'Bounced Address', 'waxwing-id': known.signed },
    { event: 'dropped', reason: 'Unsubscribed Address', 'waxwing-id': unsubscribed.signed },
    { event: 'bounce', 'smtp-id': '<somebody-elses@example.net>' },
  ]
  expect((await sendgrid(events)).body.data).toEqual({ received: 5, recorded: 4 })
  expect((await sendgrid(events)).body.data).toEqual({ received: 5, recorded: 0 })
  expect(await hard.events()).toMatchObject([
    { eventName: 'emailHardBounce', data: { bounce: { type: 'hard', status: '5.1.1', reply_code: 550 } } },
  ])
  expect(await blocked.events()).toMatchObject([{ eventName: 'emailSoftBounce' }])
  expect(await known.events()).toMatchObject([{ eventName: 'emailHardBounce' }])
  expect(await unsubscribed.events()).toEqual([])
  expect(await spam.events()).toMatchObject([{ eventName: 'emailComplaint', data: { feedback_type: 'abuse' } }])
})

test('SendGrid: an unsigned or modified request is rejected', async () => {
  const { events, signed } = await recipient()
  const complaints = [{ event: 'spamreport', 'waxwing-id': signed }]
  const none = await post('sendgrid', JSON.stringify(complaints))
  const later = await sendgrid(complaints, { 'x-twilio-email-event-webhook-timestamp': '1' })
  const nonsense = await sendgrid(complaints, { 'x-twilio-email-event-webhook-signature': 'bm9uc2Vuc2U=' })
  expect([none.status, later.status, nonsense.status]).toEqual([401, 401, 401])
  expect(await events()).toEqual([])
})

test('Mailgun: permanent failures and complaints are recorded, temporary failures are not', async () => {
  const [hard, temporary, spam] = [await recipient(), await recipient(), await recipient()]
  const failed = (severity: string) => ({
    event: 'failed',
    severity,
    reason: 'bounce',
    timestamp: Date.now() / 1000,
    'delivery-status': { code: 550, message: '5.1.1 No such user' },
  })
  const variables = (signed: string) => ({ 'user-variables': { 'waxwing-id': signed } })
  const byMessageId = { message: { headers: { 'message-id': messageIdOf(hard.ids) } } }
  expect((await mailgun({ ...failed('permanent'), ...byMessageId })).body.data).toEqual({ received: 1, recorded: 1 })
  expect((await mailgun({ ...failed('temporary'), ...variables(temporary.signed) })).body.data.received).toBe(0)
  expect((await mailgun({ event: 'complained', ...variables(spam.signed) })).body.data.recorded).toBe(1)
  expect(await hard.events()).toMatchObject([{ eventName: 'emailHardBounce' }])
  expect(await temporary.events()).toEqual([])
  expect(await spam.events()).toMatchObject([{ eventName: 'emailComplaint' }])
})

test('Mailgun: a wrong key, an old signature or a used token is rejected; the same request again is a retry', async () => {
  const { signed, events } = await recipient()
  const complained = { event: 'complained', 'user-variables': { 'waxwing-id': signed } }
  expect((await mailgun(complained, { key: 'another key' })).status).toBe(401)
  expect((await mailgun(complained, { ageSeconds: 86_400 })).status).toBe(401)
  expect((await mailgun(complained, { ageSeconds: -86_400 })).status).toBe(401)
  expect(await events()).toEqual([])
  const token = 'one token'
  const harmless = mailgunPost({ event: 'opened' }, { token })
  expect((await post('mailgun', harmless)).status).toBe(200)
  expect((await post('mailgun', harmless)).status).toBe(200)
  const { signature } = JSON.parse(harmless)
  expect((await post('mailgun', JSON.stringify({ signature, 'event-data': complained }))).status).toBe(401)
  expect(await events()).toEqual([])
})

test('Mailgun: a used signature is rejected in any spelling and by every process', async () => {
  const { signed, events } = await recipient()
  const complained = { event: 'complained', 'user-variables': { 'waxwing-id': signed } }
  const used = mailgunPost({ event: 'opened' }, { token: 'e0123456789' })
  expect((await post('mailgun', used)).status).toBe(200)
  const { timestamp, signature } = JSON.parse(used).signature
  const replay = (parts: object) =>
    post('mailgun', JSON.stringify({ signature: parts, 'event-data': complained })).then(({ status }) => status)

  // Not used before either: a timestamp is ten digits.
  const unused = JSON.parse(mailgunPost({ event: 'opened' }, { token: 'e0987654321' })).signature
  expect(await replay({ ...unused, timestamp: `${unused.timestamp}e0`, token: '987654321' })).toBe(401)

  // Timestamp and token are signed as one text, so only the sender defines where one ends.
  expect(await replay({ timestamp: `${timestamp}e0`, token: '123456789', signature })).toBe(401)
  expect(await replay({ timestamp: `${timestamp}e0123456789`, token: ' ', signature })).toBe(401)
  expect(await replay({ timestamp, token: 'e0123456789', signature: signature.toUpperCase() })).toBe(401)
  expect(await app.db`select from provider_signatures where signature = decode(${signature}, 'hex')`).toHaveLength(1)
  expect(await events()).toEqual([])

  await app.db.statement`update provider_signatures set expires_at = now() - interval '1 second'`
  await deleteExpiredSignatures(app.db)
  expect(await app.db`select from provider_signatures`).toEqual([])
})

test('Postmark: bounces and complaints are recorded by their metadata, with the right password only', async () => {
  const [hard, full, spam, away] = [await recipient(), await recipient(), await recipient(), await recipient()]
  const about = ({ signed }: { signed: string }) => ({ RecordType: 'Bounce', Metadata: { 'waxwing-id': signed } })
  const refused = { ...about(hard), Type: 'HardBounce', Details: 'smtp;550 5.1.1 The email account does not exist' }
  for (const credential of ['hook:wrong', 'the password of postmark', ''])
    expect((await postmark(refused, credential)).status).toBe(401)
  expect((await postmark(refused)).body.data.recorded).toBe(1)
  await postmark({ ...about(full), Type: 'SoftBounce', Details: 'smtp;552 5.2.2 Mailbox full' })
  await postmark({ ...about(spam), RecordType: 'SpamComplaint', Type: 'SpamComplaint' })
  await postmark({ ...about(away), Type: 'AutoResponder' })
  const names = await Promise.all([hard, full, spam, away].map(async ({ events }) => (await events())[0]?.eventName))
  expect(names).toEqual(['emailHardBounce', 'emailSoftBounce', 'emailComplaint', undefined])
})

test('a permanent failure is a hard bounce unless the text says otherwise', async () => {
  const [silent, policy] = [await recipient(), await recipient()]
  const about = ({ signed }: { signed: string }) => ({ Type: 'HardBounce', Metadata: { 'waxwing-id': signed } })
  await postmark(about(silent))
  await postmark({ ...about(policy), Details: 'smtp;550 5.7.26 This mail is unauthenticated' })
  const names = await Promise.all([silent, policy].map(async ({ events }) => (await events())[0]?.eventName))
  expect(names).toEqual(['emailHardBounce', 'emailSoftBounce'])
})

test('a report reaches the older organization if an imported one has a message with the same id', async () => {
  const { ids } = await recipient()
  const other = newId('org')
  await app.db.begin(async (tx) => {
    await tx`insert into organizations (id, name) values (${other}, 'Imported')`
    await tx`
      insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, context, subject, status)
      select ${other}, id, flow_id, flow_version_id, contact_id, email, context, subject, status
      from messages where organization_id = ${ids.organizationId} and id = ${ids.messageId}`
  })
  // A signed report names its organization, also in a request with one that names the id only.
  const signed = tokens.sign('bounce', { ...ids, organizationId: other })
  const found = await findReported(app.db, tokens, [
    { signed: [signed], messageIds: [] },
    { signed: [], messageIds: [messageIdOf(ids)] },
  ])
  expect(found.map((message) => message?.organizationId)).toEqual([other, ids.organizationId])
})

test('a report with the Message-ID of an email to several recipients concerns the recipient that it names', async () => {
  const people = [1, 2, 3].map((n) => `shared-${n}@example.com`)
  const { body } = await app.publicApi('POST', '/emails', {
    ...{ from: 'hello@acme.example', to: people.slice(0, 2), bcc: people[2], subject: 'Hi', text: 'Hello' },
  })
  const mails = await until('the mails', () => {
    const found = people.flatMap((address) => relay.mails.find((each) => each.recipient === address) ?? [])
    return found.length === people.length ? found : undefined
  })
  const ids = new Set(mails.map(({ mail }) => mail.messageId))
  expect([...ids]).toEqual([`<${body.data.id}@acme.example>`])
  const [messageId] = ids
  const bounce = { event: 'bounce', type: 'bounce', status: '5.1.1', reason: '550 5.1.1 The account does not exist' }
  await sendgrid([{ ...bounce, email: people[1]!.toUpperCase(), 'smtp-id': messageId }])
  await mailgun({
    ...{
      event: 'failed',
      severity: 'permanent',
      recipient: people[2],
      message: { headers: { 'message-id': messageId } },
    },
    'delivery-status': { code: 550, message: '5.1.1 The account does not exist' },
  })
  const statuses = body.data.messages.map(async ({ id }: { id: string }) => {
    const message = await getMessage(app, id)
    return [message.contact.email, message.status]
  })
  expect(await Promise.all(statuses)).toEqual([
    [people[0], 'sent'],
    [people[1], 'bounced'],
    [people[2], 'bounced'],
  ])
  // Sent again, it is an email of its own.
  await app.manage('POST', `/organization/messages/${body.data.messages[0].id}/send-again`)
  const again = await until('the second mail', () => relay.mails.filter((each) => each.recipient === people[0])[1])
  expect(again.mail.messageId).toMatch(/^<msg_/)
})

test('invalid requests are rejected by all providers', async () => {
  for (const provider of ['ses', 'sendgrid', 'mailgun', 'postmark'])
    for (const body of ['', '{', '[]', 'null', '"text"', '{"TopicArn":[]}', '\u0000'])
      expect([400, 401], `${provider} ${body}`).toContain((await post(provider, body)).status)
})

test('more field names than can be parsed in milliseconds are rejected, also before a signature in the body is verified', async () => {
  const costly = distinctNames(30_000)
  expect((await post('ses', costly)).status).toBe(413)
  expect((await post('mailgun', costly)).status).toBe(413)
})

test('a provider that is not configured responds with 404', async () => {
  await using bare = await startWithReader()
  for (const provider of ['ses', 'sendgrid', 'mailgun', 'postmark', 'another']) {
    const answer = await bare.call('POST', `/providers/${provider}/events`, { body: {} })
    expect([provider, answer.status]).toEqual([provider, 404])
  }
})
