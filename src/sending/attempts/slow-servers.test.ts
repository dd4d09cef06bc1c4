import { afterAll, expect, test } from 'vitest'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { hang, type RawSmtp, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { startSharedApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'

const servers: AsyncDisposable[] = []
afterAll(() => Promise.all(servers.map((server) => server[Symbol.asyncDispose]())))
const installation = await startRelay({ parse: false })
servers.push(installation)
// The worker has 100 places.
const newOrganization = await startSharedApp({ SMTP_URL: installation.url, SMTP_CONNECTIONS: '2' })

const organizations = 10
const emailsOfEach = 30
const largeOfEach = 4
/** After this time, mail servers are down and emails use no places. */
const silenceNoticedMs = 15_000
const silentAt = ['greeting', 'RCPT', 'DATA', 'end']

const email = (to: string) => ({ from: 'hello@acme.example', to, subject: 'Hello', text: 'Hello' })
const attachments = [{ filename: 'a.bin', content: Buffer.alloc(800 * 1024, 'x').toString('base64') }]

async function submit(app: TestApp, path: string, body: object): Promise<void> {
  const { status, text } = await app.publicApi('POST', path, body)
  expect(status, text).toBe(200)
}

const sendBoth = async (app: TestApp, name: string) => {
  await submit(app, '/emails', email(`${name}@example.com`))
  await submit(app, '/emails', { ...email(`${name}.large@example.com`), attachments })
}

/** Adds an organization whose mail server stops answering at a stage, and that sends more than it may have in flight. */
async function addSilent(at: string): Promise<RawSmtp> {
  const server = await startRawSmtp({ answer: ({ verb }) => (verb === at ? hang : undefined) })
  servers.push(server)
  const app = await newOrganization()
  await addMailServer(app, { url: server.url, connections: 4 })
  const large = Array.from({ length: largeOfEach }, (_, n) => ({ ...email(`large${n}@example.com`), attachments }))
  const others = Array.from({ length: emailsOfEach }, (_, n) => email(`c${n}@example.com`))
  await submit(app, '/emails/batch', [...large, ...others])
  await until('the server to be used', () => server.connections() > 0)
  return server
}

test('email leaves at once while the mail servers of ten other organizations do not answer', async () => {
  await using own = await startRelay({ parse: false })
  const first = await newOrganization()
  const second = await newOrganization()
  await addMailServer(second, { url: own.url })
  await Promise.all(Array.from({ length: organizations }, (_, n) => addSilent(silentAt[n % silentAt.length]!)))

  await Promise.all([sendBoth(first, 'ada'), sendBoth(second, 'ben')])
  const recipientsAt = (relay: typeof installation) => relay.mails.map(({ recipient }) => recipient).sort()
  // Before their silence has any consequence.
  await until('the emails through SMTP_URL', () => installation.mails.length === 2, silenceNoticedMs)
  await until('the emails through a mail server', () => own.mails.length === 2, silenceNoticedMs)
  expect(recipientsAt(installation)).toEqual(['ada.large@example.com', 'ada@example.com'])
  expect(recipientsAt(own)).toEqual(['ben.large@example.com', 'ben@example.com'])
})
