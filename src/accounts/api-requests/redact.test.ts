import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { redact, redactText } from './redact.ts'

const key = `wxk_${'a1'.repeat(21)}`

test('values of secrets are replaced, by their name and by what they look like', () => {
  const body = {
    password: 'hunter2',
    settings: { apiKey: 'abc', api_key: 'abc', signing_secret: 1, Authorization: 'x', tokens: ['a', 'b'] },
    note: `my key ${key} and Bearer abc.def and whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`,
    [key]: 'as a name',
    session: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    has_password: true,
  }
  expect(JSON.parse(redact(body)!)).toEqual({
    password: '[redacted]',
    settings: {
      apiKey: '[redacted]',
      api_key: '[redacted]',
      signing_secret: '[redacted]',
      Authorization: '[redacted]',
      tokens: '[redacted]',
    },
    note: 'my key [redacted] and [redacted] and [redacted]',
    '[redacted]': 'as a name',
    session: '[redacted]',
    has_password: true,
  })
})

test('secrets in the parameters of addresses are replaced, whatever the field is called', () => {
  const context = {
    url: 'https://x.example/?reset_token=abc&lang=en',
    links: [
      'See https://x.example/a?b=1&X-Amz-Signature=abc#access_token=d, or <a href="https://x.example/?a=1&amp;apiKey=e">',
    ],
  }
  expect(JSON.parse(redact(context)!)).toEqual({
    url: 'https://x.example/?reset_token=[redacted]&lang=en',
    links: [
      'See https://x.example/a?b=1&X-Amz-Signature=[redacted]#access_token=[redacted] or <a href="https://x.example/?a=1&amp;apiKey=[redacted]">',
    ],
  })
})

test('user info in addresses, and codes that sign in, are replaced', () => {
  const body = {
    urls: ['https://ada:p@ss@x.example/a', 'See <postgres://ada@db.example:5432/x>', 'https://x.example/@ada?x=a@b'],
    back: 'https://x.example/callback?code=4/0Ab&state=1#pin=1234',
    ...{ otp: 123456, sms_otp: '1', otpCode: '1', pin: '1234', PIN_new: 1, code: 'abc', verification_code: '1' },
    ...{ shipping: 'x', footprint: 'large', zip_code: '10115', pinned: 'x', country_code: 'DE' },
  }
  expect(JSON.parse(redact(body)!)).toEqual({
    urls: [
      'https://[redacted]@x.example/a',
      'See <postgres://[redacted]@db.example:5432/x>',
      'https://x.example/@ada?x=a@b',
    ],
    back: 'https://x.example/callback?code=[redacted]&state=1#pin=[redacted]',
    ...{ otp: '[redacted]', sms_otp: '[redacted]', otpCode: '[redacted]', pin: '[redacted]', PIN_new: '[redacted]' },
    ...{ code: '[redacted]', verification_code: '[redacted]' },
    ...{ shipping: 'x', footprint: 'large', zip_code: '10115', pinned: 'x', country_code: 'DE' },
  })
})

test('the status of a response is shown, and a code with more digits is not', () => {
  expect(redact({ code: 404, status: 'error' })).toBe('{"code":404,"status":"error"}')
  expect(redact({ code: 1234 })).toBe('{"code":"[redacted]"}')
})

test('long texts, lists and base64 content are shortened', () => {
  const shown = JSON.parse(
    redact({
      html: 'word '.repeat(1_000),
      attachment: 'QUJD'.repeat(100_000),
      members: Array.from({ length: 500 }, String),
    })!,
  )
  expect(shown.html).toHaveLength(301)
  expect(shown.attachment).toBe('[400000 characters of base64]')
  expect(shown.members).toHaveLength(21)
  expect(shown.members.at(-1)).toBe('… 480 more')
})

test('the result is small, whatever the body', () => {
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field ${index}`, 'text '.repeat(50)]))
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`)
  const nested = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => wide))
  const escaped = { text: '\u0001"\\'.repeat(100_000) }
  for (const body of [wide, deep, nested, escaped, [[wide], [wide]]]) expect(redact(body)!.length).toBeLessThan(8_000)
})

test('no part of an address is left where a text is cut', () => {
  for (let before = 270; before < 305; before++) {
    const text = redactText(`${'x'.repeat(before)} ada.lovelace@example.com, more text`)
    expect(text.includes('ada.lovelace@example.com') || !text.includes('ada')).toBe(true)
  }
})

test('characters that cannot be stored are replaced', () => {
  expect(redactText('a\0b\x1bc')).toBe('a\ufffdb\ufffdc')
})

test('only JSON objects and lists are returned', () => {
  expect([undefined, null, 'text', 1, Readable.from([]), Buffer.from('a')].map(redact)).toEqual(
    Array.from({ length: 6 }, () => null),
  )
})
