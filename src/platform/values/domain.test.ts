import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asciiDomain, hostOf } from './domain.ts'

const label = fc.oneof(
  fc.constantFrom('example', 'com', 'a', 'xn--bcher-kva', 'xn--', 'Bücher', '0x7f', '1', 'a-b', '-a', 'a_b', '', '%41'),
  fc.string({ unit: fc.constantFrom(...'ab0x-é'), maxLength: 6 }),
)

test('a valid domain is what domainToASCII returns for it', () => {
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), (labels) => {
      const text = labels.join('.')
      const domain = asciiDomain(text)
      if (domain !== undefined) expect(domain).toBe(domainToASCII(text))
    }),
  )
})

test.each([
  ['Example.COM', 'example.com'],
  ['Bücher.example', 'xn--bcher-kva.example'],
  ['localhost', 'localhost'],
  [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
])('%s is a domain', (text, domain) => {
  expect(asciiDomain(text)).toBe(domain)
})

test.each([
  '',
  'a..b',
  'a b.example',
  'a_b.example',
  'example.com.',
  'example.com/x',
  '[::1]',
  'xn--\ufffd.example',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(126)}example`,
])('"%s" is not a domain', (text) => {
  expect(asciiDomain(text)).toBeUndefined()
})

test('the host of a URL has no brackets', () => {
  expect([hostOf(new URL('http://[::1]:80/')), hostOf(new URL('https://example.com/'))]).toEqual(['::1', 'example.com'])
})
