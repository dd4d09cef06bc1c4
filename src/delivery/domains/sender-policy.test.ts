import { expect, test } from 'vitest'
import { createSenderPolicy } from './sender-policy.ts'

const policy = createSenderPolicy({
  isEnforced: true,
  allowedDomains: ['acme.example', '*.shops.example', 'xn--bcher-kva.example'],
  defaultSender: 'Hello@operator.example',
  dkimDomain: 'acme.example',
})

test.each([
  'ada@acme.example',
  'ADA@Acme.EXAMPLE',
  ' ada@acme.example ',
  'ada@one.shops.example',
  'ada@a.b.shops.example',
  'ada@bücher.example',
  'hello@operator.example',
  'HELLO@OPERATOR.EXAMPLE',
])('allows %s', (address) => {
  expect(policy.allows(address)).toBe(true)
})

test.each([
  'ceo@operator.example',
  'hello@sub.operator.example',
  'ada@sub.acme.example',
  'ada@shops.example',
  'ada@evilshops.example',
  'ada@notacme.example',
  'ada@acme.example.evil.example',
  '"ada@acme.example"@evil.example',
  'ada@acme.example, eve@evil.example',
  'ada@acme.example\r\nFrom: eve@evil.example',
  'acme.example',
  '',
])('rejects %j', (address) => {
  expect(policy.allows(address)).toBe(false)
  expect(policy.signs(address)).toBe(false)
})

test('signs only allowed addresses at the domain of the key and below it', () => {
  const wide = createSenderPolicy({
    isEnforced: true,
    allowedDomains: ['acme.example', '*.acme.example', 'other.example', 'notacme.example'],
    defaultSender: 'hello@operator.example',
    dkimDomain: 'acme.example',
  })
  const signed = [
    'a@acme.example',
    'a@sub.acme.example',
    'a@other.example',
    'a@notacme.example',
    'hello@operator.example',
  ]
  expect(signed.filter((address) => wide.signs(address))).toEqual(['a@acme.example', 'a@sub.acme.example'])
})

test('allows and signs everything while it is not enforced', () => {
  const open = createSenderPolicy({
    isEnforced: false,
    allowedDomains: ['acme.example'],
    defaultSender: 'hello@operator.example',
    dkimDomain: 'acme.example',
  })
  expect(open.allows('ceo@elsewhere.example')).toBe(true)
  expect(open.signs('ceo@elsewhere.example')).toBe(true)
})
