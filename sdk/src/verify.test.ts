import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type VerificationFault, type VerifyOptions, WebhookVerificationError } from './delivery.ts'
import { verifyWebhook as verifyOnTheEdge } from './edge.ts'
import type { WebhookEvent } from './events.ts'
import { signWebhook } from './signature.ts'
import { verifyWebhook } from './verify.ts'

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const otherSecret = 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='
const sentAt = 1767225601
const event: WebhookEvent = {
  event_name: 'emailClick',
  organization_id: 'org_01',
  timestamp: 1767225600,
  data: {
    event_id: 'evt_01',
    message_id: 'msg_01',
    flow_id: 'flw_01',
    contact: { id: 'con_01', email: 'zoë@example.com', first_name: 'Zoë' },
    machine: false,
    user_agent: null,
    url: 'https://example.com/',
  },
}
const body = JSON.stringify(event)
const sign = (secrets = [secret], text = body) =>
  signWebhook({ id: 'dlv_01', timestamp: sentAt, body: text, secrets }) as Record<string, string>
const inTime: VerifyOptions = { now: sentAt * 1000 }

const verifiers = [
  ['by node:crypto', async (...of: Parameters<typeof verifyWebhook>) => verifyWebhook(...of)],
  ['by Web Crypto', verifyOnTheEdge],
] as const

describe.each(verifiers)('verifyWebhook %s', (_, verify) => {
  async function faultOf(...of: Parameters<typeof verifyWebhook>): Promise<VerificationFault> {
    const error = await verify(...of).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(WebhookVerificationError)
    return (error as WebhookVerificationError).reason
  }

  test('returns the event of a delivery signed with the secret, from text and from bytes', async () => {
    expect(await verify(body, sign(), secret, inTime)).toEqual(event)
    expect(await verify(Buffer.from(body), sign(), secret, inTime)).toEqual(event)
  })

  test('finds the header in a Headers object, in Node’s lower case, and as it was sent', async () => {
    const value = sign()['X-Service-Signature']!

    for (const headers of [
      new Headers(sign()),
      { 'x-service-signature': value },
      { 'x-service-signature': [value] },
      { 'X-Service-Signature': value },
    ]) {
      expect(await verify(body, headers, secret, inTime)).toEqual(event)
    }
  })

  test('accepts either secret of a sender that rotates, and either secret of a receiver that rotates', async () => {
    expect(await verify(body, sign([otherSecret, secret]), secret, inTime)).toEqual(event)
    expect(await verify(body, sign([otherSecret, secret]), otherSecret, inTime)).toEqual(event)
    expect(await verify(body, sign(), [otherSecret, secret], inTime)).toEqual(event)
  })

  test('rejects another secret, body or timestamp as an invalid signature', async () => {
    const later = { 'x-service-signature': sign()['X-Service-Signature']!.replace(`t=${sentAt}`, `t=${sentAt + 1}`) }

    expect(await faultOf(body, sign(), otherSecret, inTime)).toBe('wrong_signature')
    expect(await faultOf(body, sign(), [], inTime)).toBe('wrong_signature')
    expect(await faultOf(`${body} `, sign(), secret, inTime)).toBe('wrong_signature')
    expect(await faultOf(body, later, secret, inTime)).toBe('wrong_signature')
  })

  test('accepts a clock difference up to the tolerance and rejects one second more', async () => {
    const at = (seconds: number, toleranceSeconds?: number) => ({
      now: (sentAt + seconds) * 1000,
      ...(toleranceSeconds !== undefined && { toleranceSeconds }),
    })

    for (const seconds of [300, -300]) expect(await verify(body, sign(), secret, at(seconds))).toEqual(event)
    for (const seconds of [301, -301]) expect(await faultOf(body, sign(), secret, at(seconds))).toBe('stale_timestamp')
    expect(await verify(body, sign(), secret, at(3600, 3600))).toEqual(event)
    expect(await faultOf(body, sign(), secret, at(0, Number.NaN))).toBe('stale_timestamp')
  })

  test('reports a missing or malformed header', async () => {
    const hex = 'a'.repeat(64)

    expect(await faultOf(body, {}, secret)).toBe('missing_signature')
    expect(await faultOf(body, new Headers(), secret)).toBe('missing_signature')
    for (const header of [
      'nonsense',
      `v1=${hex}`,
      't=1767225601',
      `t=now,v1=${hex}`,
      `t=1767225601,v0=${hex}`,
      't=1767225601,v1=abc',
      `t=1767225601,v1=${hex.toUpperCase()}`,
      `t=1767225601${`,v1=${hex}`.repeat(100)}`,
    ]) {
      expect(await faultOf(body, { 'x-service-signature': header }, secret)).toBe('malformed_signature')
    }
  })

  test('rejects a signed body that is not an event', async () => {
    for (const text of ['', 'null', '[]', '"text"', '{"event_name":"emailOpen"}', '{"data":{}}', '{']) {
      expect(await faultOf(text, sign([secret], text), secret, inTime)).toBe('malformed_body')
    }
  })

  test('reports that the raw body is required if a parsed body is passed', async () => {
    await expect(verify(event as never, sign(), secret, inTime)).rejects.toThrow('raw request body')
  })

  test('rejects any changed byte of the body or header', async () => {
    const header = sign()['X-Service-Signature']!
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.nat(), fc.integer({ min: 1, max: 127 }), async (inBody, at, flip) => {
        const bytes = Buffer.from(inBody ? body : header)
        const index = at % bytes.length
        bytes[index] = bytes[index]! ^ flip
        const changed = bytes.toString('latin1')
        const outcome = await verify(
          inBody ? bytes : body,
          { 'x-service-signature': inBody ? header : changed },
          secret,
          inTime,
        ).catch((error: unknown) => error)
        expect(outcome).toBeInstanceOf(WebhookVerificationError)
      }),
    )
  })
})

test('the event name determines the type of its data', () => {
  const verified = verifyWebhook(body, sign(), secret, inTime)

  expect(verified.event_name === 'emailClick' && verified.data.url).toBe('https://example.com/')
})
