import { createHmac, hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ContactId, FlowId, MessageId, OrganizationId } from '../values/ids.ts'
import { createTokens, type MailIds, type TokenPurpose } from './tokens.ts'

const ids: MailIds = {
  organizationId: '01890000-0000-7000-8000-000000000001' as OrganizationId,
  messageId: '01890000-0000-7000-8000-000000000002' as MessageId,
  contactId: '01890000-0000-7000-8000-000000000003' as ContactId,
  flowId: '01890000-0000-7000-8000-000000000004' as FlowId,
}
const addressIds = { organizationId: ids.organizationId, messageId: ids.messageId }
const click = { ...ids, url: 'https://example.com/é?a=1&b=2' }
const tokens = createTokens({ current: 'a secret of this installation' })

// Emails sent years ago contain such tokens. A change that breaks one breaks their links.
const vectors = {
  unsubscribe_link:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAATPbil4q6ffs5R5AmixnUmJ',
  test_unsubscribe_link:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAARVoSWHX0wOfssg5j11-c-k',
  email: 'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAAS8fgwkoOJ0HAQGGH0rKVS6',
  test_email:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAARGavCIXQBMKeFCipCCIJut',
  open: 'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAARkZjPAn_dOePX7jRzzFIZk',
  click:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAARodHRwczovL2V4YW1wbGUuY29tL8OpP2E9MSZiPTJnLZsKHZOshYr9CuvNxwDf',
  unsubscribe:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAARkmbgiiQIQHmAqvNZV9PJd',
  test_open:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAAQMFMtwDCRq-fX0q3N8yIFj',
  test_click:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAARodHRwczovL2V4YW1wbGUuY29tL8OpP2E9MSZiPTK2Wm12pTAqttwn1IZ-Bjul',
  test_unsubscribe:
    'zAGJAAAAAHAAgAAAAAAAAAEBiQAAAABwAIAAAAAAAAACAYkAAAAAcACAAAAAAAAAAwGJAAAAAHAAgAAAAAAAAARXoRSzAgtuJTxG3Oi3hSEB',
  bounce: 'b-ageqaaaaabyabaaaaaaaaaaaaeaysaaaaaahaaeaaaaaaaaaaabb2m7b6gyje',
  unsubscribe_by_mail: 'u-ageqaaaaabyabaaaaaaaaaaaaeaysaaaaaahaaeaaaaaaaaaaabiw35t6sige',
}
const payloads = {
  email: ids,
  unsubscribe_link: ids,
  test_unsubscribe_link: ids,
  test_email: ids,
  open: ids,
  click,
  unsubscribe: ids,
  test_open: ids,
  test_click: click,
  test_unsubscribe: ids,
  bounce: addressIds,
  unsubscribe_by_mail: addressIds,
}
const purposes = Object.keys(vectors) as TokenPurpose[]

test('existing tokens remain valid', () => {
  for (const purpose of purposes) {
    expect(tokens.sign(purpose, payloads[purpose] as never)).toBe(vectors[purpose])
    expect(tokens.verify(purpose, vectors[purpose])).toEqual(payloads[purpose])
  }
})

test('an email is signed once for both of its tokens', () => {
  const signed = { links: vectors.email, unsubscribe: vectors.unsubscribe_link }
  expect(tokens.signEmail(ids, false)).toEqual(signed)
  expect(tokens.signEmail(ids, true)).toEqual({ links: vectors.test_email, unsubscribe: vectors.test_unsubscribe_link })
})

test('existing destinations remain valid, and those of other flows are rejected', () => {
  const link = { url: 'https://example.com/é?a=1&b=2', query: 'utm_source=news' }
  const vector = 'zGh0dHBzOi8vZXhhbXBsZS5jb20vw6k_YT0xJmI9Mgp1dG1fc291cmNlPW5ld3PxtiHRq8lJWLwnrW9IrUAW'
  expect(tokens.signDestination(ids, link)).toBe(vector)
  const fresh = createTokens({ current: 'a new secret', previous: ['a secret of this installation'] })
  const foreign = createTokens({ current: 'a new secret' })
  for (const _ of ['verified', 'remembered']) {
    expect(fresh.verifyDestination(ids, vector)).toEqual(link)
    expect(foreign.verifyDestination(ids, vector)).toBeUndefined()
    for (const name of ['organizationId', 'flowId'])
      expect(
        fresh.verifyDestination({ ...ids, [name]: '01890000-0000-7000-8000-000000000009' }, vector),
      ).toBeUndefined()
  }
  expect(tokens.verify('click', vector)).toBeUndefined()
  expect(tokens.verifyDestination(ids, tokens.sign('email', ids))).toBeUndefined()
})

test('a destination with any bit flipped is rejected', () => {
  const bytes = Buffer.from(tokens.signDestination(ids, { url: 'https://example.com/' }), 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    expect(tokens.verifyDestination(ids, flipped.toString('base64url'))).toBeUndefined()
  }
})

test('a link token consists of key id, ids, destination and a truncated HMAC with the key of its purpose', () => {
  const derive = (info: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', 'a secret of this installation', '', `waxwing token v1 ${info}`, bytes))
  const hex = Object.values(ids).join('').replaceAll('-', '')
  const signed = Buffer.concat([derive('key id', 1), Buffer.from(hex, 'hex'), Buffer.from(click.url)])
  const mac = createHmac('sha256', derive('click', 32)).update(signed).digest().subarray(0, 16)
  expect(tokens.sign('click', click)).toBe(Buffer.concat([signed, mac]).toString('base64url'))
})

test('a token is not valid for another purpose', () => {
  for (const made of purposes) {
    const token = tokens.sign(made, payloads[made] as never)
    for (const asked of purposes) if (asked !== made) expect(tokens.verify(asked, token)).toBeUndefined()
  }
  const bounce = tokens.sign('bounce', addressIds)
  expect(tokens.verify('unsubscribe_by_mail', bounce.replace('b-', 'u-'))).toBeUndefined()
})

test('accepts tokens signed by a previous secret while it is listed', () => {
  const rotated = createTokens({ current: 'a new secret', previous: ['a secret of this installation'] })
  const forgotten = createTokens({ current: 'a new secret' })
  for (const purpose of purposes) {
    const old = tokens.sign(purpose, payloads[purpose] as never)
    expect(rotated.verify(purpose, old)).toEqual(payloads[purpose])
    expect(forgotten.verify(purpose, old)).toBeUndefined()
    const fresh = rotated.sign(purpose, payloads[purpose] as never)
    expect(forgotten.verify(purpose, fresh)).toEqual(payloads[purpose])
    expect(tokens.verify(purpose, fresh)).toBeUndefined()
  }
})

test('an address token fits into a local part and is case-insensitive', () => {
  for (const purpose of ['bounce', 'unsubscribe_by_mail'] as const) {
    const localPart = tokens.sign(purpose, addressIds)
    expect(localPart).toMatch(/^[bu]-[a-z2-7]{61}$/)
    expect(localPart.length).toBeLessThanOrEqual(64)
    expect(tokens.verify(purpose, localPart.toUpperCase())).toEqual(addressIds)
  }
})

const uuid = fc.uuid()
const anyIds = fc.record({
  organizationId: uuid,
  messageId: uuid,
  contactId: uuid,
  flowId: uuid,
}) as fc.Arbitrary<unknown> as fc.Arbitrary<MailIds>

test('every payload round-trips', () => {
  fc.assert(
    fc.property(anyIds, fc.string({ unit: 'grapheme', maxLength: 200 }), (some, url) => {
      expect(tokens.verify('open', tokens.sign('open', some))).toEqual(some)
      expect(tokens.verifyDestination(some, tokens.signDestination(some, { url }))).toEqual({ url })
      expect(tokens.verify('click', tokens.sign('click', { ...some, url }))).toEqual({ ...some, url })
      const { organizationId, messageId } = some
      expect(tokens.verify('bounce', tokens.sign('bounce', some))).toEqual({ organizationId, messageId })
    }),
  )
})

test('a token has the ids of its own email, also if the previous one differed in a single id', () => {
  for (const name of Object.keys(ids)) {
    const others = { ...ids, [name]: '01890000-0000-7000-8000-000000000009' }
    for (const each of [ids, others]) expect(tokens.verify('open', tokens.sign('open', each))).toEqual(each)
  }
})

test('rejects a token with any character changed, added or removed', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .'
  fc.assert(
    fc.property(
      fc.constantFrom(...purposes),
      fc.nat(),
      fc.constantFrom(...alphabet),
      fc.constantFrom('change', 'add', 'cut'),
      (purpose, position, character, how) => {
        const token = tokens.sign(purpose, payloads[purpose] as never)
        const at = position % token.length
        const rest = token.slice(how === 'add' ? at : at + 1)
        const changed = token.slice(0, at) + (how === 'cut' ? '' : character) + rest
        const same =
          purpose === 'bounce' || purpose === 'unsubscribe_by_mail'
            ? changed.toLowerCase() === token
            : changed === token
        fc.pre(!same)
        expect(tokens.verify(purpose, changed)).toBeUndefined()
      },
    ),
    { numRuns: 2_000 },
  )
})

test('rejects a non-canonical last character of an address token', () => {
  const token = tokens.sign('bounce', addressIds)
  for (const letter of 'abcdefghijklmnopqrstuvwxyz234567') {
    const spelled = token.slice(0, -1) + letter
    expect(tokens.verify('bounce', spelled) !== undefined).toBe(spelled === token)
  }
})

test('rejects a token with any bit flipped', () => {
  for (const purpose of ['open', 'click', 'unsubscribe'] as const) {
    const bytes = Buffer.from(tokens.sign(purpose, click), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      expect(tokens.verify(purpose, flipped.toString('base64url'))).toBeUndefined()
    }
  }
})

test('verify never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String(), fc.constant('x'.repeat(10_000))), (text) => {
      for (const purpose of purposes) expect(tokens.verify(purpose, text)).toBeUndefined()
      expect(tokens.verifyDestination(ids, text)).toBeUndefined()
    }),
  )
})

test('sign throws if the destination is too long or an id is invalid', () => {
  for (const url of ['é'.repeat(2_000), 'a'.repeat(4_000)]) {
    expect(tokens.verify('click', tokens.sign('click', { ...ids, url }))).toEqual({ ...ids, url })
    for (const longer of [`${url}a`, url + url, url.repeat(10)])
      for (const sign of [
        () => tokens.sign('click', { ...ids, url: longer }),
        () => tokens.signDestination(ids, { url: longer }),
      ])
        expect(sign).toThrow(RangeError)
  }
  expect(() => tokens.sign('open', { ...ids, flowId: 'flw_1' as FlowId })).toThrow(TypeError)
})
