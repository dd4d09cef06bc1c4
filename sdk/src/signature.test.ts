import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { signWebhook } from './signature.ts'

// These signatures were created with Python's hmac module, not with the code under test.
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const oldSecret = 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='
const body = '{"event_name":"emailOpen","organization_id":"org_01","timestamp":1767225600,"data":{"note":"Grüße"}}'
const delivery = { id: 'dlv_01', timestamp: 1767225601, body }
const expected = {
  service: '5b1d0e701233bf6d98368b70e1858b698e1a8186eca1d37750f49d1439c3b59f',
  standard: 'SZ5KgMpAh0KgCivYzl0LHQ6W4LEgS4SeIvHCz1yvYGA=',
  oldService: '13ed093ee8431acf1c40ba701934397fc77d0db949aca1b73c33b28e9c3fda1c',
  oldStandard: 'S/nJyfSAc1kSe7+D0+EKJ2h6PxDBbz4NlnT3MeXEEFQ=',
}

test('signs a delivery in both formats according to fixed test vectors', () => {
  expect(signWebhook({ ...delivery, secrets: [secret] })).toEqual({
    'X-Service-Signature': `t=1767225601,v1=${expected.service}`,
    'webhook-id': 'dlv_01',
    'webhook-timestamp': '1767225601',
    'webhook-signature': `v1,${expected.standard}`,
  })
})

test('during a rotation, the signature of the previous secret follows the current one', () => {
  const headers = signWebhook({ ...delivery, secrets: [secret, oldSecret] })

  expect(headers['X-Service-Signature']).toBe(`t=1767225601,v1=${expected.service},v1=${expected.oldService}`)
  expect(headers['webhook-signature']).toBe(`v1,${expected.standard} v1,${expected.oldStandard}`)
})

test('a body has the same signature as bytes and as text', () => {
  const asBytes = signWebhook({ ...delivery, body: new TextEncoder().encode(body), secrets: [secret] })

  expect(asBytes).toEqual(signWebhook({ ...delivery, secrets: [secret] }))
})

test('rejects a missing or empty secret and a fractional timestamp', () => {
  expect(() => signWebhook({ ...delivery, secrets: [] })).toThrow('at least one secret')
  expect(() => signWebhook({ ...delivery, secrets: [''] })).toThrow('empty')
  expect(() => signWebhook({ ...delivery, timestamp: 1.5, secrets: [secret] })).toThrow('whole seconds')
})

test.each([
  ['the present secret', secret],
  ['the previous secret during a rotation', oldSecret],
])('the stripe package verifies a delivery with %s', (_, known) => {
  const headers = signWebhook({ ...delivery, timestamp: nowSeconds(), secrets: [secret, oldSecret] })
  const stripe = new Stripe('sk_test_unused')

  const event = stripe.webhooks.constructEvent(body, headers['X-Service-Signature']!, known)

  expect(event).toEqual(JSON.parse(body))
})

test.each([
  ['the present secret', secret],
  ['the previous secret during a rotation', oldSecret],
])('the standardwebhooks package verifies a delivery with %s', (_, known) => {
  const headers = signWebhook({ ...delivery, timestamp: nowSeconds(), secrets: [secret, oldSecret] })

  expect(new Webhook(known).verify(body, headers)).toEqual(JSON.parse(body))
})

const nowSeconds = () => Math.floor(Date.now() / 1000)
