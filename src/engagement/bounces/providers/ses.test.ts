import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { distinctNames } from '../../../../test/support/costly-json.ts'
import { newId } from '../../../platform/values/ids.ts'
import { sesReports } from './ses.ts'

const pem = (name: string) =>
  readFileSync(new URL(`../../../../test/support/certificates/${name}.pem`, import.meta.url), 'utf8')
const certificate = pem('webhook-receiver')
const key = createPrivateKey(pem('webhook-receiver-key'))
const topic = 'arn:aws:sns:eu-west-1:123456789012:bounces'
const certificateUrl = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123.pem'
const subscribeUrl = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc'

type Message = Record<string, string>
const signedNames = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

/** As SNS would send it. */
function signed(message: Message, version = '2'): Message {
  const whole: Message = {
    Type: 'Notification',
    MessageId: newId('evt'),
    TopicArn: topic,
    Timestamp: '2026-01-01T00:00:00.000Z',
    SignatureVersion: version,
    SigningCertURL: certificateUrl,
    ...message,
  }
  const text = signedNames.flatMap((name) => (whole[name] === undefined ? [] : [`${name}\n${whole[name]}\n`])).join('')
  const hash = version === '1' ? 'sha1' : 'sha256'
  return { ...whole, Signature: sign(hash, Buffer.from(text), key).toString('base64') }
}

function start() {
  const fetched: string[] = []
  const read = sesReports({
    topics: [topic],
    fetchText: async (url) => {
      fetched.push(url)
      return certificate
    },
  })
  return {
    fetched,
    read: (message: unknown) => read({ headers: {}, turns: topic, body: Buffer.from(JSON.stringify(message)) }),
  }
}

const bounce = (more: object = {}) =>
  JSON.stringify({
    notificationType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      timestamp: '2026-01-01T00:00:00.000Z',
      bouncedRecipients: [
        { emailAddress: 'ada@example.com', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
      ],
    },
    mail: {
      source: 'b-envelope@bounces.example',
      headers: [
        { name: 'Message-ID', value: '<msg_1@acme.example>' },
        { name: 'X-Waxwing-Id', value: 'b-header' },
      ],
      tags: { 'waxwing-id': ['b-tag'] },
    },
    ...more,
  })

test.each(['1', '2'])(
  'a bounce with a signature of version %s is read with everything that identifies its message',
  async (version) => {
    const { read, fetched } = start()
    expect(await read(signed({ Message: bounce(), Subject: 'Amazon SES Notification' }, version))).toMatchObject([
      {
        clues: {
          signed: ['b-tag', 'b-header', 'b-envelope@bounces.example'],
          messageIds: ['<msg_1@acme.example>', ''],
        },
        occurredAt: new Date('2026-01-01T00:00:00.000Z'),
        verdict: { kind: 'bounce', bounce: { type: 'hard', status: '5.1.1', reply_code: 550 } },
      },
    ])
    await read(signed({ Message: bounce() }, version))
    expect(fetched).toEqual([certificateUrl])
  },
)

test('events of a configuration set, complaints and transient bounces are recorded', async () => {
  const { read } = start()
  const complaint = { eventType: 'Complaint', complaint: { complaintFeedbackType: 'fraud' }, mail: {} }
  const notSpam = { eventType: 'Complaint', complaint: { complaintFeedbackType: 'not-spam' }, mail: {} }
  const unproven = { eventType: 'Complaint', complaint: { complaintFeedbackType: 'auth-failure' }, mail: {} }
  const infected = { eventType: 'Complaint', complaint: { complaintFeedbackType: 'virus' }, mail: {} }
  const full = { bounceType: 'Transient', bounceSubType: 'MailboxFull', bouncedRecipients: [{}] }
  const verdicts = await Promise.all(
    [
      complaint,
      notSpam,
      unproven,
      infected,
      { eventType: 'Bounce', bounce: full },
      { eventType: 'Delivery' },
      { eventType: 'Open' },
    ].map(async (event) => (await read(signed({ Message: JSON.stringify(event) })))[0]?.verdict),
  )
  expect(verdicts).toMatchObject([
    { kind: 'complaint', feedbackType: 'fraud' },
    undefined,
    undefined,
    undefined,
    { kind: 'bounce', bounce: { type: 'soft' } },
    undefined,
    undefined,
  ])
  expect(await read(signed({ Message: 'You have successfully subscribed your topic.' }))).toEqual([])
})

test('only subscriptions of allowed topics are confirmed', async () => {
  const confirmation = {
    Type: 'SubscriptionConfirmation',
    Message: 'Confirm',
    Token: 'abc',
    SubscribeURL: subscribeUrl,
  }
  const { read, fetched } = start()
  expect(await read(signed(confirmation))).toEqual([])
  expect(fetched).toEqual([certificateUrl, subscribeUrl])

  const other = start()
  await expect(other.read(signed({ ...confirmation, TopicArn: `${topic}2` }))).rejects.toThrow(
    'could not be authenticated',
  )
  expect(other.fetched).toEqual([])
  for (const url of [
    'https://evil.example/',
    'http://sns.eu-west-1.amazonaws.com/',
    'https://sns.eu-west-1.amazonaws.com/x',
  ])
    await expect(other.read(signed({ ...confirmation, SubscribeURL: url }))).rejects.toThrow(
      'could not be authenticated',
    )
  expect(other.fetched).toEqual([certificateUrl])
})

test('a certificate from another host is not fetched', async () => {
  const { read, fetched } = start()
  const elsewhere = [
    'https://evil.example/SimpleNotificationService.pem',
    'https://evil-sns.eu-west-1.amazonaws.com/x.pem',
    'https://sns.eu-west-1.amazonaws.com.evil.example/x.pem',
    'https://sns.eu-west-1.amazonaws.com@evil.example/x.pem',
    'https://user:pass@sns.eu-west-1.amazonaws.com/x.pem',
    'https://sns.eu-west-1.amazonaws.com:8443/x.pem',
    'http://sns.eu-west-1.amazonaws.com/x.pem',
    'https://s3.amazonaws.com/sns.eu-west-1/x.pem',
    'https://sns.eu-west-1.amazonaws.com/x.txt',
    'nonsense',
  ]
  for (const url of elsewhere)
    await expect(read(signed({ Message: bounce(), SigningCertURL: url }))).rejects.toThrow('could not be authenticated')
  expect(fetched).toEqual([])
})

test('a message modified after signing is rejected', async () => {
  const { read } = start()
  const message = signed({ Message: bounce() })
  const changes: Message[] = [
    { Message: bounce({ mail: {} }) },
    { Subject: 'more' },
    { SignatureVersion: '1' },
    { SignatureVersion: '3' },
  ]
  for (const change of changes)
    await expect(read({ ...message, ...change })).rejects.toThrow('could not be authenticated')
})

test('if the certificate cannot be fetched, the response is 503 and the next request fetches it again', async () => {
  let isThere = false
  const read = sesReports({
    topics: [topic],
    fetchText: async () => {
      if (!isThere) throw new Error('answered 503')
      return certificate
    },
  })
  const body = Buffer.from(JSON.stringify(signed({ Message: bounce() })))
  await expect(read({ headers: {}, turns: topic, body })).rejects.toMatchObject({ type: 'unavailable' })
  isThere = true
  expect(await read({ headers: {}, turns: topic, body })).toHaveLength(1)
})

test('a message type that is an inherited property is rejected', async () => {
  const { read } = start()
  for (const type of ['constructor', 'toString', '__proto__'])
    await expect(read(signed({ Message: bounce(), Type: type }))).rejects.toMatchObject({ type: 'unauthorized' })
})

test('a notification with more field names than can be parsed in milliseconds is rejected', async () => {
  const { read } = start()
  expect(await read(signed({ Message: distinctNames(20_000) }))).toEqual([])
  await expect(read(signed({ Message: distinctNames(30_000) }))).rejects.toMatchObject({ type: 'payload_too_large' })
})
