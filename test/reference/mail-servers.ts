import type { Recorder } from './recorder.ts'

/** Without any mail server at the end, since emails of other examples would go through it. */
export async function recordMailServers(recorder: Recorder): Promise<void> {
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
  const wrong = { name: 'Postfix', url: 'http://smtp.example.com' }
  await recorder.record('createMailServer', { body: wrong, status: 422 })
  await recorder.record('listMailServers')
  await recorder.record('getMailServer', { params })
  await recorder.record('updateMailServer', { params, body: { kinds: ['marketing'], messages_per_day: 50_000 } })
  await recorder.record('deleteMailServer', { params })
}
