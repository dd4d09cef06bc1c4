import { createHash } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { expect, test } from 'vitest'
import { startRelay } from './support/relay.ts'
import { freePort, newCustomer, startService } from './support/service.ts'
import { createTestDb } from './support/test-db.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

test('emails are sent although the service is killed right after its 250', {
  timeout: longTestMsMax.kills(1),
}, async () => {
  await using testDb = await createTestDb()
  await using relay = await startRelay()
  const port = await freePort()
  const environment = { DATABASE_URL: testDb.url, SMTP_URL: relay.url, SUBMISSION_PORT: String(port) }
  await using serving = await startService('serve', environment)
  const { apiKey } = await newCustomer(serving.url)
  const transport = createTransport({ host: '127.0.0.1', port, auth: { user: 'waxwing', pass: apiKey } })
  const content = Buffer.alloc(1_500_000, 'large')
  const attachments = [[], [{ filename: 'large.bin', content }], []]
  const sent = attachments.map((files, at) =>
    transport.sendMail({
      ...{ from: 'hello@acme.example', to: `ada-${at}@example.com`, subject: `Email ${at}`, text: 'Hello' },
      attachments: files,
    }),
  )
  for (const { response } of await Promise.all(sent)) expect(response).toMatch(/^250 2\.6\.0 Queued as msg_/)
  await serving.kill()
  expect(relay.mails).toEqual([])

  await using _working = await startService('work', environment)
  await until('the emails to be sent', () => relay.mails.length === 3, longTestMsMax.kills(1))
  const large = relay.mails.find(({ recipient }) => recipient === 'ada-1@example.com')!
  const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  expect(hashOf(new Uint8Array(large.mail.attachments[0]!.content as ArrayBuffer))).toBe(hashOf(content))
})
