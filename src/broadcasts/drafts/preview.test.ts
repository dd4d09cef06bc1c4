import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { newCustomer } from '../../../test/support/service.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { linkOf } from '../../events/recording/link.ts'
import { weekdays } from '../../platform/values/weekly-window.ts'

const html = `<p>For {{ first_name | default: "you" }} in {{ city }}.
  <a href="https://example.com/news?for={{ email | url_encode }}">Read</a> <a href=HTTPS://example.com/a&amp;b#top>More</a>
  <a href="mailto:a@example.com">Write</a> <a href="{{ unsubscribe_url }}">Unsubscribe</a></p>`

test('a draft is previewed for a contact of its audience, with changes that are not saved', async () => {
  await using app = await startTestApp()
  const { flow, group, create } = await fill(app)
  await app.manage('PATCH', `/organization/flows/${flow}`, { html })
  const groupId = await group('Readers', emails('reader', 12))
  const others = await group('Others', ['other@example.com'], {})
  const broadcast = await create([groupId])
  const preview = async (body: object) => broadcast.act('preview', body)

  const first = (await preview({})).body.data
  expect(first).toMatchObject({
    in_audience: true,
    message_id: null,
    variant: null,
    missing: [],
    subject: 'Hello there',
  })
  expect(first.choices).toHaveLength(10)
  expect(first.contact).toEqual(first.choices[0])
  // The links are numbered, and named as they are counted.
  expect(first.html).toContain('data-waxwing-link="0">Read')
  expect(first.html).toContain('data-waxwing-link="1">More')
  expect(first.html.match(/data-waxwing-link/g)).toHaveLength(2)
  const counted = [`https://example.com/news?for=${first.contact.email}`, 'https://example.com/a&b']
  expect(first.links).toEqual(counted.map((url) => linkOf(url)))

  const chosen = first.choices[3]
  expect((await preview({ contact_id: chosen.id })).body.data).toMatchObject({ contact: chosen, choices: [] })
  const draft = {
    subject: 'For {{ email }}',
    audience: { group_ids: [others] },
    variants: [
      { subject: 'Variant A', share: 50 },
      { subject: 'Variant B for {{ email }}', share: 50 },
    ],
  }
  const changed = (await preview({ variant: 'B', draft })).body.data
  expect(changed).toMatchObject({
    contact: { email: 'other@example.com' },
    variant: 'B',
    subject: null,
    missing: ['city'],
  })
  const outside = (await preview({ variant: 'B', draft, contact_id: chosen.id })).body.data
  expect(outside).toMatchObject({ in_audience: false, subject: `Variant B for ${chosen.email}`, missing: [] })
  const nobody = (await preview({ draft: { audience: {}, context: { city: 'Graz' } } })).body.data
  expect(nobody).toMatchObject({ contact: null, choices: [], in_audience: false, missing: [] })
  expect(nobody.html).toContain('in Graz')

  const problems = [
    [422, { draft: { subject: '{{ broken' } }],
    [422, { draft: { flow_id: null } }],
    [422, { variant: 'A' }],
    [404, { contact_id: 'con_00000000000000000000000000' }],
  ] as const
  for (const [status, body] of problems) expect((await preview(body)).status, JSON.stringify(body)).toBe(status)
})

test('a sent broadcast is shown as it was sent, whatever was changed since', async () => {
  await using app = await startTestApp()
  const { flow, group, create } = await fill(app)
  const groupId = await group('Readers', emails('reader', 8))
  const variants = [
    { subject: 'Variant A', share: 50 },
    { subject: 'Variant B for {{ city }}', share: 50 },
  ]
  const broadcast = await create([groupId], { variants, test_percent: 100 })
  await broadcast.start()
  await broadcast.ended()
  const [recipient] = (await app.manage('GET', `/organization/broadcasts/${broadcast.id}/recipients`)).body.data
  await app.manage('PATCH', `/organization/contacts/${recipient.contact_id}`, { attributes: { city: 'Linz' } })
  await app.manage('PATCH', `/organization/flows/${flow}`, { html: '<p>Changed</p>' })
  const preview = async (body: object) => (await broadcast.act('preview', body)).body.data

  const sent = await preview({ contact_id: recipient.contact_id })
  expect(sent).toMatchObject({ in_audience: true, message_id: recipient.message_id, variant: recipient.variant })
  expect(sent.html).toContain('News for Vienna')
  expect(sent.links).toEqual(['https://example.com/news'])
  const other = recipient.variant === 'A' ? 'B' : 'A'
  const otherwise = await preview({ contact_id: recipient.contact_id, variant: other })
  expect(otherwise).toMatchObject({ message_id: null, variant: other, in_audience: true })
  expect(otherwise.html).toContain('News for Linz')
  for (const key of ['A', 'B']) {
    const { choices, variant, message_id } = await preview({ variant: key })
    expect([choices.length, variant, message_id !== null]).toEqual([4, key, true])
  }
  expect((await broadcast.act('preview', { draft: { subject: 'New' } })).status).toBe(409)

  // Started, but outside the sending hours: the recipients get it later, until it is cancelled.
  const day = weekdays[(new Date().getUTCDay() + 8) % 7]!
  const window = { days: [day], from: '08:00', to: '18:00' }
  const waiting = await create([groupId], { variants, test_percent: 100, schedule: { time_zone: 'UTC', window } })
  await waiting.start()
  await waiting.ended('sending')
  const previewWaiting = async (body: object) => (await waiting.act('preview', body)).body.data
  const { choices } = await previewWaiting({ variant: 'B' })
  expect(choices).toHaveLength(4)
  const pending = { contact_id: choices[0].id }
  expect(await previewWaiting(pending)).toMatchObject({ in_audience: true, variant: 'B', message_id: null })
  await group('Others', ['other@example.com'])
  const [outsider] = (await app.manage('GET', '/organization/contacts?query=other@')).body.data
  expect(await previewWaiting({ contact_id: outsider.id })).toMatchObject({ in_audience: false, variant: 'A' })
  await waiting.act('cancel')
  await until('the end', async () => (await waiting.recipients('cancelled')).length === 8)
  expect(await previewWaiting(pending)).toMatchObject({ in_audience: false, choices: [] })

  const stranger = await newCustomer(app.url)
  for (const [method, path] of [
    ['POST', `${broadcast.id}/preview`],
    ['GET', `${broadcast.id}/hours`],
    ['GET', `compare?ids=${broadcast.id}`],
  ] as const)
    expect(
      (await stranger.manage(method, `/organization/broadcasts/${path}`, method === 'POST' ? {} : undefined)).status,
    ).toBe(404)

  await app.manage('DELETE', `/organization/contacts/${recipient.contact_id}`)
  await until('the contact to be erased', async () => {
    const { status } = await broadcast.act('preview', { contact_id: recipient.contact_id })
    return status === 404
  })
})
