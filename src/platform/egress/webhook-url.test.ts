import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkWebhookUrl } from './webhook-url.ts'

const strictly = (text: string) => checkWebhookUrl(text, { allowPrivate: false })
const loosely = (text: string) => checkWebhookUrl(text, { allowPrivate: true })

test('an https URL of a public host is accepted and normalized', () => {
  expect(strictly('https://example.com/hooks?a=1')).toEqual({ url: 'https://example.com/hooks?a=1' })
  expect(strictly(' HTTPS://Example.COM:443 ')).toEqual({ url: 'https://example.com/' })
  expect(strictly('https://example.com:8443/a b/é')).toEqual({ url: 'https://example.com:8443/a%20b/%C3%A9' })
  expect(strictly('https://bücher.example.com/#')).toEqual({ url: 'https://xn--bcher-kva.example.com/' })
  expect(strictly('https://example.com./x')).toEqual({ url: 'https://example.com/x' })
  const longest = `https://example.com/${'x'.repeat(2048 - 'https://example.com/'.length)}`
  expect(strictly(longest)).toEqual({ url: longest })
  expect(strictly(`${longest}x`)).toHaveProperty('problem')
  expect(strictly('https://8.8.8.8/')).toEqual({ url: 'https://8.8.8.8/' })
  expect(strictly('https://[2606:4700::1111]/')).toEqual({ url: 'https://[2606:4700::1111]/' })
})

test.each([
  ['', 'must be a URL'],
  ['example.com/hook', 'must be a URL'],
  ['https://', 'must be a URL'],
  ['https://exa mple.com/', 'must be a URL'],
  ['https://1.2.3.4.5/', 'must be a URL'],
  ['https://[fe80::1%25eth0]/', 'must be a URL'],
  ['http://example.com/', 'must start with https://'],
  ['ftp://example.com/', 'must start with https://'],
  ['javascript:alert(1)', 'must start with https://'],
  ['file:///etc/passwd', 'must start with https://'],
  ['https://user@example.com/', 'user name or password'],
  ['https://user:secret@example.com/', 'user name or password'],
  ['https://:secret@example.com/', 'user name or password'],
  ['https://example.com@10.0.0.1/', 'user name or password'],
  ['https://example.com/#/hooks', 'fragment'],
  ['https://example.com:0/', 'port 0'],
  ['https://example..com/', 'empty label'],
  [`https://example.com/${'a'.repeat(2048)}`, 'at most 2048'],
  [`https://example.com/${'é'.repeat(1000)}`, 'at most 2048'],
])('%.60s is rejected with the reason: %s', (text, why) => {
  expect(strictly(text)).toEqual({ problem: expect.stringContaining(why) })
})

test.each([
  'localhost',
  'LOCALHOST',
  'localhost.',
  'app.localhost',
  'printer.local',
  'metadata.google.internal',
  'router.home.arpa',
  'db.corp',
  'nas.lan',
  'intranet',
  'metadata',
  'ｌocalhost',
  '%6cocalhost',
])('%s is rejected as a private host', (host) => {
  expect(strictly(`https://${host}/`)).toEqual({ problem: expect.stringContaining('names a private host') })
})

test('the problem of a private host explains how to allow it, also for http', () => {
  for (const url of ['https://localhost/', 'http://localhost:8080/hook', 'http://127.0.0.1:8080/', 'http://[::1]/'])
    expect(strictly(url), url).toEqual({ problem: expect.stringMatching(/reachable.*EGRESS_ALLOW_PRIVATE=true/) })
})

test.each([
  ['dotted', '127.0.0.1'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.01'],
  ['one octal number', '017700000001'],
  ['hexadecimal', '0x7f.0x0.0x0.0x1'],
  ['one hexadecimal number', '0x7F000001'],
  ['two parts', '127.1'],
  ['three parts', '127.0.1'],
  ['a mixture', '0x7f.1'],
  ['a trailing dot', '127.0.0.1.'],
  ['percent-encoded', '%31%32%37.0.0.1'],
  ['full-width digits', '１２７.０.０.１'],
  ['circled digits', '①②⑦.⓪.⓪.①'],
  ['ideographic full stops', '127。0。0。1'],
  ['IPv6 loopback', '[::1]'],
  ['IPv6 written out', '[0000:0000:0000:0000:0000:0000:0000:0001]'],
  ['IPv4-mapped', '[::ffff:127.0.0.1]'],
  ['IPv4-mapped in hex', '[::FFFF:7F00:1]'],
  ['IPv4-compatible', '[::127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['unique local', '[fd00:ec2::254]'],
  ['link-local', '[fe80::1]'],
  ['metadata', '169.254.169.254'],
  ['metadata in decimal', '2852039166'],
  ['private', '10.1.2.3'],
  ['zero', '0'],
  ['broadcast', '255.255.255.255'],
])('a non-public address is refused when it is written as %s', (_, host) => {
  for (const url of [`https://${host}/`, `https://${host}:8443/hook`, `https:${host}`, `https:\\\\${host}\\`]) {
    expect(strictly(url), url).toEqual({ problem: expect.stringContaining('must be reachable from the internet') })
  }
})

test('with private addresses allowed, http and private hosts are accepted, and other rules still apply', () => {
  expect(loosely('http://localhost:3000/hook')).toEqual({ url: 'http://localhost:3000/hook' })
  expect(loosely('http://receiver/')).toEqual({ url: 'http://receiver/' })
  expect(loosely('https://10.0.0.1/')).toEqual({ url: 'https://10.0.0.1/' })
  expect(loosely('http://[::1]:8080/')).toEqual({ url: 'http://[::1]:8080/' })
  for (const text of ['ftp://localhost/', 'http://user@localhost/', 'http://localhost/#x', 'nonsense']) {
    expect(loosely(text), text).toHaveProperty('problem')
  }
})

test('an accepted URL is accepted again unchanged', () => {
  fc.assert(
    fc.property(fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }), (text) => {
      const first = strictly(text)
      if ('url' in first) expect(strictly(first.url)).toEqual(first)
    }),
  )
})
