import { expect, test } from 'vitest'
import { createTokens } from '../../platform/secrets/tokens.ts'
import { newId } from '../../platform/values/ids.ts'
import { type CheckedEmail, checkEmail } from './email-checks.ts'
import { trackLinks } from './track-links.ts'

const check = (html: string, change: Partial<CheckedEmail> = {}) =>
  checkEmail({
    subject: 'Hello',
    html,
    source: html,
    isMarketing: false,
    postalAddress: null,
    templateAddress: { isRead: false, stored: null },
    baseUrl: 'https://mail.waxwing.dev',
    unsubscribeUrl: '#unsubscribe',
    utmQuery: '',
    isSure: () => true,
    ...change,
  })
const problems = (html: string, change: Partial<CheckedEmail> = {}) =>
  check(html, change).findings.map(({ problem }) => problem)
const link = (href: string) => problems(`<a href="${href}">x</a>`)

test('links that work in an email are not reported, and http links are returned once', () => {
  const working = [
    'mailto:a@b.c',
    'tel:+49',
    'sms:1',
    'cid:x',
    'com.app://x',
    '#part',
    'https://a.dev:8443/?a=1&amp;b=2',
  ]
  for (const href of working) expect([href, link(href)]).toEqual([href, []])
  const html = `<!-- <a href="/x"> --><a name="x">a</a><link href="/x"><a href="#unsubscribe">u</a>
    <a href=" https://a.dev/?a=1&amp;b=2 ">a</a><a href='https://a.dev/?a=1&b=2'>a</a>
    <a href="https://mail.waxwing.dev/docs">own</a><a href="&#109;ailto:a@b.c">hidden</a>`
  expect(check(html)).toMatchObject({ findings: [], links: ['https://a.dev/?a=1&b=2'] })
  const many = Array.from({ length: 80 }, (_, index) => `<a href="https://a.dev/${index}">a</a>`).join('')
  expect(check(many).links).toHaveLength(50)
})

test('links that cannot work are reported with the reason', () => {
  const dead = (href: string) => `The link "${href}" does not start with https:// and will not work in an email.`
  for (const href of ['/relative', '//a.dev', 'a.dev:8080', 'www.a.dev', 'ada@a.dev', '*|UNSUB|*', 'http//a.dev'])
    expect(link(href)).toEqual([dead(href)])
  for (const href of ['', ' ', '#']) expect(link(href)).toEqual(['A link has no address.'])
  for (const href of [
    'https://',
    'https:a.dev',
    'http:/a.dev',
    'https://a b.dev',
    'https://https://a.dev',
    'https://a..dev',
  ])
    expect(link(href)).toEqual([`The link "${href}" is not a valid address.`])
  for (const host of [
    'example.com',
    'www.example.org',
    'shop.test',
    'localhost:3000',
    '127.0.0.1',
    '10.1.2.3',
    '[::1]',
  ])
    expect(link(`https://${host}/x`)).toEqual([`The link "https://${host}/x" leads to a test address.`])
  expect(link('https://intranet/')).toEqual(['The link "https://intranet/" leads to a test address.'])
  expect(link('myexample.com')).toHaveLength(1)
  expect(link('https://myexample.com')).toEqual([])
  expect(link('javascript:void(0)')[0]).toContain('mail apps remove it')
  expect(link('mailto:?subject=x')).toEqual(['The link "mailto:?subject=x" has no email address.'])
  const many = Array.from({ length: 30 }, (_, index) => `<a href="/${index}${'x'.repeat(500)}">a</a>`).join('')
  expect(problems(many)).toHaveLength(10)
  expect(problems(many)[0]).toMatch(/^The link "\/0x{98}…" does not/)
})

test('findings name the line of the template', () => {
  const source = '<p>Hello</p>\n<p><a href="/x">x</a></p>\n<img src="https://a.dev/a.png">'
  expect(check(source).findings).toMatchObject([
    { check: 'link', path: 'html', line: 2, column: 12 },
    { check: 'alt_text', path: 'html', line: 3 },
  ])
  expect(check('<a href="/ada">x</a>', { source: '<a href="/{{ name }}">x</a>' }).findings[0]!.line).toBeUndefined()
})

test('images need an alt text and an address that mail apps can load', () => {
  expect(problems('<img src="https://a.dev/i/logo.png?x=1">')).toEqual([
    'The image "logo.png" has no alt text, which is shown and read aloud instead of the image.',
  ])
  expect(problems('<img alt src="https://a.dev/a.png"><img src="https://a.dev/p.gif" width="1" height="1">')).toEqual(
    [],
  )
  expect(problems('<img alt="" src="logo.png">')[0]).toContain('does not start with https://')
  expect(problems('<img alt="" src="http://localhost/a.png">')[0]).toContain('test address')
  expect(problems('<img alt="" src="data:image/png;base64,AAAA">')[0]).toContain('do not show such images')
  expect(problems('<img alt="" src="cid:logo">')).toEqual([])
  const mjml =
    '<mj-column>\n<mj-image src="https://a.dev/a.png" />\n<mj-image alt="" src="https://a.dev/b.png" /></mj-column>'
  const compiled = '<img alt="" src="https://a.dev/a.png"><img alt="" src="https://a.dev/b.png">'
  expect(check(compiled, { source: mjml }).findings).toMatchObject([{ check: 'alt_text', line: 2, column: 1 }])
})

test('subjects that inboxes cut off are reported', () => {
  expect(problems('<p>', { subject: 'x'.repeat(70) })).toEqual([])
  expect(problems('<p>', { subject: '😀'.repeat(70) })).toEqual([])
  expect(problems('<p>', { subject: 'x'.repeat(71) })[0]).toMatch(/^The subject has 71 characters/)
  expect(problems('<p>', { subject: '' })).toEqual(['The subject is empty.'])
})

test('the size is that of the HTML as it is sent, with tracked links and the pixel', () => {
  const tokens = createTokens({ current: 'a secret of the right length for tests' })
  const ids = {
    organizationId: newId('org'),
    messageId: newId('msg'),
    contactId: newId('con'),
    flowId: newId('flw'),
  }
  const baseUrl = 'https://mail.waxwing.dev'
  const utmQuery = 'utm_source=news'
  const html = `<body>${'<a href="https://a.dev/ü?a=1&amp;b=2">ü</a>'.repeat(30)}<a href="https://a.dev">b</a></body>`
  const sent = trackLinks(html, {
    trackedUrl: (url, query) =>
      `${baseUrl}/t/c/${tokens.sign('email', ids)}/${tokens.signDestination(ids, { url, query })}`,
    pixelUrl: `${baseUrl}/t/o/${tokens.sign('email', ids)}`,
    unsubscribeUrl: undefined,
    utmQuery,
    baseUrl,
  })
  expect(check(html, { utmQuery }).htmlBytes).toBe(Buffer.byteLength(sent))
  expect(problems(`<p>${'x'.repeat(99_000)}</p>`)).toEqual([])
  expect(problems(`<p>${'x'.repeat(99_000)}</p>${'<a href="https://a.dev">b</a>'.repeat(10)}`)).toEqual([
    expect.stringMatching(/^The email is 10\d KB\. Gmail cuts off emails over 100 KB/),
  ])
})

test('checking hostile HTML takes linear time', () => {
  for (const piece of ['<', '<a href=', '<img ', '&', '<a href="', '{{'])
    expect(check(piece.repeat(100_000), { isMarketing: true, postalAddress: 'x' }).findings).toBeDefined()
})
