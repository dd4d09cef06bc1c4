import { startRawSmtp } from '../support/raw-smtp.ts'
import type { Recorder } from './recorder.ts'
import type { Replacement } from './stable.ts'

/**
 * Returns the values that differ in every run. Without any mail server at the end, since emails of other examples would go
 * through it.
 */
export async function recordMailServers(recorder: Recorder): Promise<readonly Replacement[]> {
  const created = await recorder.record('createMailServer', {
    body: {
      name: 'Amazon SES, Ireland',
      preset: 'amazon_ses',
      host: 'email-smtp.eu-west-1.amazonaws.com',
      username: 'AKIAIOSFODNN7EXAMPLE',
      password: 'BExampleSmtpPassword',
      priority: 1,
      messages_per_second: 14,
    },
  })
  const params = { id: created.data.id as string }
  await recorder.record('listMailServerPresets', {
    shorten: (body: { data: { id: string }[] }) => ({ ...body, data: body.data.filter(({ id }) => id === 'google') }),
  })
  const wrong = { name: 'Postfix', url: 'http://smtp.example.com' }
  await recorder.record('createMailServer', { body: wrong, status: 422 })
  await recorder.record('listMailServers')
  await recorder.record('getMailServer', { params })
  await recorder.record('updateMailServer', { params, body: { kinds: ['marketing'], messages_per_day: 50_000 } })
  await recorder.record('deleteMailServer', { params })
  await recordSites(recorder)
  const values = [tokenOf(created.data), ...(await recordReports(recorder))]
  return [
    ...values.map((token): Replacement => [token, 'AZrk0qU3f0mPq7Yw2Lx8v1sTn5eR9cKd4gHb6jUa']),
    ...(await recordTests(recorder)),
  ]
}

const tokenOf = ({ webhook_url: url }: { webhook_url: string }) => url.split('/').at(-2)!

/** Returns the secret parts of addresses. */
async function recordReports(recorder: Recorder): Promise<string[]> {
  const body = { name: 'Postmark', preset: 'postmark', username: 'token', password: 'token', kinds: ['marketing'] }
  const { data } = (await recorder.app.manage('POST', '/organization/mail-servers', body)).body
  const token = tokenOf(data)
  await recorder.record('receiveMailServerEvents', {
    params: { token },
    body: {
      RecordType: 'Bounce',
      Type: 'HardBounce',
      Details: '550 5.1.1 No such user',
      BouncedAt: '2026-03-02T10:15:00Z',
      Metadata: { 'waxwing-id': 'the-id-from-the-email' },
    },
  })
  await recorder.app.manage('DELETE', `/organization/mail-servers/${data.id}`)
  return [token]
}

async function recordTests(recorder: Recorder): Promise<readonly Replacement[]> {
  await using server = await startRawSmtp({
    extensions: ['AUTH PLAIN LOGIN', 'SIZE 10485760'],
    answer: ({ verb, nth }) => {
      if (verb === 'greeting') return '220 smtp.example.com ESMTP'
      if (verb !== 'AUTH') return undefined
      return nth === 1 ? '235 2.7.0 Authentication successful' : '535 5.7.8 Authentication failed'
    },
  })
  const url = `smtp://ada:secret@127.0.0.1:${server.port}`
  const { body } = await recorder.app.manage('POST', '/organization/mail-servers', { name: 'Postfix', url })
  const params = { id: body.data.id as string }
  const tests = [
    await recorder.record('testMailServer', { params }),
    await recorder.record('testMailServerSettings', { body: { url } }),
  ]
  await recorder.app.manage('DELETE', `/organization/mail-servers/${params.id}`)
  const connected = tests.map(({ data }) => data.steps[1].detail as string)
  return [
    ...connected.map((detail): Replacement => [detail, 'Connected to 203.0.113.25, port 587, in 23 ms.']),
    ['127.0.0.1 is an address.', 'smtp.example.com has the address 203.0.113.25.'],
    [`127.0.0.1:${server.port}`, 'smtp.example.com:587'],
  ]
}

async function recordSites(recorder: Recorder): Promise<void> {
  await recorder.record('listReceivingSites', {
    shorten: (body: { data: unknown[] }) => ({ ...body, data: body.data.slice(0, 2) }),
  })
  const site = { site: 'google' }
  const limits = { messages_per_second: 5, messages_per_day: 20_000 }
  await recorder.record('updateReceivingSite', { params: site, body: limits })
  await recorder.record('resetReceivingSite', { params: site })
}
