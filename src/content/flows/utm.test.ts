import { expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startRelay, type TestRelay } from '../../../test/support/relay.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { trackLinks } from './track-links.ts'
import { missingParameters, parseUtm, utmQueryOf, withQuery } from './utm.ts'

const query = 'utm_source=news&utm_campaign=spring%20sale'

test('parameters are added before the fragment, and values in the link win', () => {
  const added = (url: string) => withQuery(url, missingParameters(url, query))
  expect(added('https://a.dev')).toBe(`https://a.dev?${query}`)
  expect(added('https://a.dev/x?a=1')).toBe(`https://a.dev/x?a=1&${query}`)
  expect(added('https://a.dev/x?')).toBe(`https://a.dev/x?${query}`)
  expect(added('https://a.dev/x?a=1&#top')).toBe(`https://a.dev/x?a=1&${query}#top`)
  expect(added('https://a.dev/#/route?x=1')).toBe(`https://a.dev/?${query}#/route?x=1`)
  expect(added('https://a.dev/?utm_source=partner#a')).toBe(
    'https://a.dev/?utm_source=partner&utm_campaign=spring%20sale#a',
  )
  expect(added('https://a.dev/?utm_campaign=x&utm_source=')).toBe('https://a.dev/?utm_campaign=x&utm_source=')
  expect(added('https://a.dev/utm_source=1')).toBe(`https://a.dev/utm_source=1?${query}`)
  expect(added('https://a.dev/#utm_source=1')).toBe(`https://a.dev/?${query}#utm_source=1`)
  expect(added(`https://a.dev/${'x'.repeat(3_980)}`)).toBe(`https://a.dev/${'x'.repeat(3_980)}`)
})

test('values are trimmed and encoded, and an empty campaign is none', () => {
  expect(parseUtm({ source: ' ', campaign: '' })).toBeNull()
  const utm = parseUtm({ source: ' Newsletter ', campaign: 'a&b=c#d' })
  expect(utm).toEqual({ source: 'Newsletter', medium: null, campaign: 'a&b=c#d', content: null })
  expect(utmQueryOf(utm)).toBe('utm_source=Newsletter&utm_campaign=a%26b%3Dc%23d')
  for (const source of ['{{ name }}', 'a\nb']) expect(() => parseUtm({ source })).toThrow()
})

test('without click tracking the links themselves have the parameters', () => {
  const html = trackLinks(
    '<a href="https://a.dev/?a=1&amp;b=2">a</a><a href="mailto:a@b.c">b</a><a href="https://mail.a.dev/u/x">c</a><a href="https://mail.a.dev/p/x">d</a><a data-waxwing-track="off" href="https://a.dev">e</a><a href="https://mail.a.developers.dev">f</a>',
    {
      trackedUrl: undefined,
      pixelUrl: undefined,
      unsubscribeUrl: 'https://mail.a.dev/u/x',
      utmQuery: 'utm_source=x',
      baseUrl: 'https://mail.a.dev',
    },
  )
  expect(html).toBe(
    '<a href="https://a.dev/?a=1&amp;b=2&amp;utm_source=x">a</a><a href="mailto:a@b.c">b</a><a href="https://mail.a.dev/u/x">c</a><a href="https://mail.a.dev/p/x">d</a><a data-waxwing-track="off" href="https://a.dev">e</a><a href="https://mail.a.developers.dev?utm_source=x">f</a>',
  )
})

/** The paths of the tracked links, in their order. */
function linksOf(relay: TestRelay, at: number): string[] {
  return [...relay.mails[at]!.mail.html!.matchAll(/href="[^"]*(\/t\/c\/[^"]+)"/g)].map(([, path]) => path!)
}

test('links of a flow lead to the site with its parameters, and clicks are counted by the link as it was written', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url })
  const utm = { source: 'shop', medium: 'email', campaign: null, content: null }
  const html =
    '<a href="https://shop.example/{{ order_id }}?a=1#top">a</a><a href="{{ link }}">b</a><a href="{{ unsubscribe_url }}">c</a>'
  const id = await createFlow(app, { html, utm })
  const path = `/organization/flows/${id}`
  expect((await app.manage('GET', path)).body.data).toMatchObject({ utm, version: 1 })
  // The same values are the same version.
  expect((await app.manage('PATCH', path, { utm })).body.data.version).toBe(1)
  await send(app, id, { context: { order_id: 7, link: 'https://a.dev/?utm_source=x' } })
  await until('the email', () => relay.mails.length === 1)
  expect(relay.mails[0]!.mail.html).toMatch(/href="[^"]*\/u\/[^"?]+"/)
  const [first, second] = linksOf(relay, 0)
  const locationOf = async (path: string) =>
    (await fetch(`${app.url}${path}`, { redirect: 'manual' })).headers.get('location')
  expect(await locationOf(first!)).toBe('https://shop.example/7?a=1&utm_source=shop&utm_medium=email#top')
  expect(await locationOf(second!)).toBe('https://a.dev/?utm_source=x&utm_medium=email')
  // On a busy machine, a click may be recorded after its response.
  const events = await until('the clicks', async () => {
    const { data } = (await app.manage('GET', '/organization/events?event_name=emailClick')).body
    return data.length === 2 && data
  })
  expect(events.map(({ data }: { data: { url: string } }) => data.url).sort()).toEqual([
    'https://a.dev/?utm_source=x',
    'https://shop.example/7?a=1#top',
  ])

  expect((await app.manage('PATCH', path, { utm: { source: '{{ x }}' } })).body.error.fields[0].path).toBe('utm.source')
  expect((await app.manage('PATCH', path, { utm: {} })).body.data).toMatchObject({ utm: null, version: 2 })
  await app.manage('PUT', `${path}/draft`, { utm: { campaign: 'launch' } })
  expect((await app.manage('GET', `${path}/draft`)).body.data.utm.campaign).toBe('launch')
  expect((await app.manage('POST', `${path}/publish`)).body.data).toMatchObject({ version: 3 })
  expect((await app.manage('GET', `${path}/versions/1`)).body.data.utm).toEqual(utm)
  const copy = (await app.manage('POST', `${path}/duplicate`)).body.data
  expect(copy.utm.campaign).toBe('launch')
})
