import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { Refusal } from '../../platform/values/errors.ts'
import { type MessageId, toText } from '../../platform/values/ids.ts'
import { compose, type Email } from './compose.ts'
import { headerText } from './headers.ts'
import { encodeText, TextForm } from './text-form.ts'

const mail: Email = {
  id: '01890000-0000-7000-8000-000000000001' as MessageId,
  domain: 'mail.example.com',
  from: { name: 'Analytical Engines', email: 'hello@example.com' },
  to: { name: 'Ada Lovelace', email: 'ada@example.org' },
  subject: 'Two gears for you',
  html: '<p>Hello</p>',
  text: 'Hello',
  date: new Date('2026-01-02T03:04:05Z'),
}

const id = toText('msg', mail.id)
const rawOf = (changes: Partial<Email>) => compose({ ...mail, ...changes }).raw
const parse = (raw: string) => PostalMime.parse(Buffer.from(raw, 'latin1'))
const headOf = (raw: string) => raw.slice(0, raw.indexOf('\r\n\r\n'))
const headerNames = (raw: string) =>
  headOf(raw)
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n')
    .map((line) => line.split(':')[0])

test('composes text, then HTML, with exactly the required headers', () => {
  expect(rawOf({})).toBe(
    [
      'From: Analytical Engines <hello@example.com>',
      'To: Ada Lovelace <ada@example.org>',
      'Subject: Two gears for you',
      'Date: Fri, 02 Jan 2026 03:04:05 +0000',
      `Message-ID: <${id}@mail.example.com>`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/alternative;',
      ` boundary="=_${id}"`,
      '',
      `--=_${id}`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hello',
      `--=_${id}`,
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      '<p>Hello</p>',
      `--=_${id}--`,
      '',
    ].join('\r\n'),
  )
  expect(compose(mail).messageIdHeader).toBe(`<${id}@mail.example.com>`)
})

test('encodes a body as 7bit if possible, else as quoted-printable', async () => {
  const encodingOf = (text: string) => /Content-Transfer-Encoding: (\S+)/.exec(rawOf({ text }))?.[1]
  for (const text of ['', 'Hello \nAda\r\n', 'a=b?c\t--=_', 'x'.repeat(990)])
    expect(encodingOf(text), text).toBe('7bit')
  const others = ['é', 'a\0b', 'x'.repeat(991), 'a\n.b', 'a\nFrom b', `a\n--=_${id}--\nb`]
  for (const text of others) {
    expect(encodingOf(text), text).toBe('quoted-printable')
    expect(withoutLastBreak((await parse(rawOf({ text }))).text)).toBe(text)
  }
})

test('composes the same bytes for the same input', () => {
  expect(rawOf({})).toBe(rawOf({}))
})

test('adds one-click unsubscribe headers to marketing email, and a mailto link if email is received', () => {
  const url = `https://mail.example.com/u/${'x'.repeat(120)}`
  const withMail = rawOf({ unsubscribe: { url, email: 'u-abc@bounce.example.com' } })
  expect(withMail).toContain(
    `List-Unsubscribe: <${url}>,\r\n <mailto:u-abc@bounce.example.com?subject=unsubscribe>\r\n`,
  )
  expect(withMail).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n')
  expect(rawOf({ unsubscribe: { url } })).toContain(`\r\nList-Unsubscribe: <${url}>\r\n`)
  expect(rawOf({})).not.toContain('List-Unsubscribe')
})

test('encodes non-ASCII names and subjects', async () => {
  const subject = 'Zwei Zahnräder für dich — 数歯車 👩‍💻 '.repeat(8).trim()
  const raw = rawOf({
    subject,
    from: { name: 'Žofie "Zo" Łabędź, Ltd.', email: 'hello@example.com' },
    replyTo: [{ name: '株式会社 数', email: 'reply@example.com' }],
  })
  const parsed = await parse(raw)
  expect(parsed.subject).toBe(subject)
  expect(parsed.from).toMatchObject({ name: 'Žofie "Zo" Łabędź, Ltd.', address: 'hello@example.com' })
  expect(parsed.replyTo?.[0]).toMatchObject({ name: '株式会社 数', address: 'reply@example.com' })
})

test('folds a long plain subject at its spaces and encodes one without spaces', async () => {
  const words = 'gears and wheels '.repeat(50).trim()
  const folded = rawOf({ subject: words })
  expect(
    headOf(folded)
      .split('\r\n')
      .every((line) => line.length <= 78),
  ).toBe(true)
  expect(folded).not.toContain('=?')
  expect((await parse(folded)).subject).toBe(words)
  const oneWord = 'x'.repeat(998)
  const encoded = rawOf({ subject: oneWord })
  expect(
    headOf(encoded)
      .split('\r\n')
      .every((line) => line.length <= 78),
  ).toBe(true)
  expect((await parse(encoded)).subject).toBe(oneWord)
})

test('encodes text that looks like an encoded word', async () => {
  const trick = '=?UTF-8?B?aGFja2Vk?='
  const parsed = await parse(rawOf({ subject: trick, to: { name: trick, email: 'ada@example.org' } }))
  expect(parsed.subject).toBe(trick)
  expect(parsed.to?.[0]).toMatchObject({ name: trick })
})

test('no field can inject a header or end the header section', () => {
  const evil = 'x\r\nBcc: eve@example.com\r\n\r\nbody\u0000\u0085\u2028'
  const raw = rawOf({
    subject: evil,
    from: { name: evil, email: 'hello@example.com' },
    to: { name: evil, email: 'ada@example.org' },
    replyTo: [{ name: evil, email: 'reply@example.com' }],
    headers: { 'X-Waxwing-Message': evil, 'Feedback-ID': 'a:b:c' },
  })
  expect(headerNames(raw)).toEqual([
    'From',
    'To',
    'Subject',
    'Date',
    'Message-ID',
    'Reply-To',
    'X-Waxwing-Message',
    'Feedback-ID',
    'MIME-Version',
    'Content-Type',
  ])
})

test('rejects an address that could inject a header or is invalid', () => {
  const bad = [
    'ada@example.org\r\nBcc: eve@example.com',
    'a\r\nb@example.org',
    'ada@exa mple.org',
    'ada',
    '@example.org',
    'ada@',
    'ada@-x.org',
    'ada@x..org',
    'adä@example.org',
    `${'a'.repeat(65)}@example.org`,
    `a@${'b.'.repeat(130)}org`,
    'ada@example.org>',
    'ada@[127.0.0.1]',
    'a\u0000@example.org',
    '',
    'ada@xn--\u0000.org',
  ]
  for (const email of bad) {
    expect(() => rawOf({ to: { email } })).toThrow(Refusal)
    expect(() => rawOf({ from: { email } })).toThrow(Refusal)
    expect(() => rawOf({ replyTo: [{ email }] })).toThrow(Refusal)
    expect(() => rawOf({ unsubscribe: { url: 'https://example.com', email: email || 'x' } })).toThrow(Refusal)
  }
  for (const url of [
    'x',
    'https://example.com/>\r\nBcc: x',
    'https://example.com/ a',
    'javascript:alert(1)',
    'https://é.example',
  ])
    expect(() => rawOf({ unsubscribe: { url } })).toThrow(Refusal)
  for (const domain of ['', 'a b', 'a\r\nb', '>']) expect(() => rawOf({ domain })).toThrow(Refusal)
  for (const name of ['', 'X Y', 'X:', 'X\r\nBcc', 'É'])
    expect(() => rawOf({ headers: { [name]: 'x' } })).toThrow(Refusal)
})

test('converts international domains to ASCII and quotes unusual local parts', async () => {
  const addresses: [string, string][] = [
    ['ada@münchen.example', 'ada@xn--mnchen-3ya.example'],
    ['ada lovelace@example.org', '"ada lovelace"@example.org'],
    ['"ada lovelace"@example.org', '"ada lovelace"@example.org'],
    ['a"b\\c@example.org', '"a\\"b\\\\c"@example.org'],
    ['ada@lovelace@example.org', '"ada@lovelace"@example.org'],
    ["o'neil+tag@Example.ORG", "o'neil+tag@example.org"],
    ['hello@localhost', 'hello@localhost'],
  ]
  for (const [given, written] of addresses) expect(compose({ ...mail, to: { email: given } }).recipient).toBe(written)
  expect(rawOf({ to: { email: 'ada@münchen.example' } })).toContain('\r\nTo: ada@xn--mnchen-3ya.example\r\n')
})

test('rejects an email above the size limit', () => {
  expect(() => rawOf({ html: 'é'.repeat(2_000_000) })).toThrow(expect.objectContaining({ type: 'payload_too_large' }))
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom(
      '=',
      '?',
      ' ',
      '\t',
      '\r',
      '\n',
      '.',
      'F',
      'From ',
      '--=_',
      'é',
      '👩‍💻',
      '"',
      '\\',
      '<',
      '>',
      ',',
      '\ud800',
      '\u0000',
      'a',
    ),
    maxLength: 200,
  }),
)

test('a parser reads back the same subject, names and bodies for any Unicode text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ subject: anyText, fromName: anyText, toName: anyText, html: anyText, text: anyText }),
      async (given) => {
        const { subject, fromName, toName, html, text } = given
        const raw = rawOf({
          subject,
          html,
          text,
          from: { ...mail.from, name: fromName },
          to: { ...mail.to, name: toName },
        })
        expectWellFormed(raw)
        const parsed = await parse(raw)
        expect(parsed.subject ?? '').toBe(wellFormed(headerText(subject)))
        expect(parsed.from?.name).toBe(wellFormed(headerText(fromName)))
        expect(parsed.to?.[0]?.name).toBe(wellFormed(headerText(toName)))
        expect(withoutLastBreak(parsed.html)).toBe(bodyText(html))
        expect(withoutLastBreak(parsed.text)).toBe(bodyText(text))
      },
    ),
    { numRuns: 1_000 },
  )
})

test('the email is well-formed or rejected for any addresses and headers', () => {
  const address = fc.oneof(
    anyText,
    fc.emailAddress(),
    fc.tuple(anyText, fc.domain()).map(([local, domain]) => `${local}@${domain}`),
  )
  fc.assert(
    fc.property(
      address,
      address,
      fc.dictionary(anyText, anyText, { maxKeys: 3 }),
      anyText,
      (to, from, headers, url) => {
        try {
          expectWellFormed(rawOf({ to: { email: to }, from: { email: from }, headers, unsubscribe: { url } }))
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
        }
        try {
          expectWellFormed(rawOf({ to: { email: to } }))
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
        }
      },
    ),
    { numRuns: 1_000 },
  )
})

function expectWellFormed(raw: string): void {
  expect([...raw].every((character) => character > '\0' && character <= '\x7f')).toBe(true)
  expect(headOf(raw)).toMatch(/^[\x20-\x7e\r\n\t]*$/)
  expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  const lines = raw.split('\r\n')
  expect(lines.at(-1)).toBe('')
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(998)
  for (const line of raw.slice(raw.indexOf('\r\n\r\n')).split('\r\n')) {
    expect(line).not.toMatch(/^\.|^From /)
  }
  for (const line of headOf(raw).split('\r\n')) expect(line).toMatch(/^(?:[A-Za-z-]+: |[ \t]\S)/)
}

/** Lone surrogates cannot be encoded in UTF-8. */
const wellFormed = (text: string) => Buffer.from(text).toString()
/** All line breaks become CRLF in an email. */
const bodyText = (text: string) => wellFormed(text).replace(/\r\n|\r/g, '\n')
/** The parser ends every body with one. */
const withoutLastBreak = (text: string | undefined) => (text ?? '').replace(/\n$/, '')

test('a text whose constant parts were encoded before is encoded like the whole text', () => {
  const piece = fc.constantFrom(
    ...[
      '<',
      't',
      'td',
      '<td>',
      '<P>',
      'x',
      ' ',
      '\t',
      '\n',
      '\r',
      '=',
      '=_',
      '.',
      'F',
      'From ',
      'é',
      '\ud83d',
      '\ude00',
    ],
    ...['\0', 'x'.repeat(70), 'y'.repeat(990)],
  )
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
  // As tokens in links, which never follow the start of a tag.
  const token = fc.string({ unit: fc.constantFrom(...'aBcF09_-'), minLength: 120, maxLength: 120 })
  const encodings = new Map<string, number>()
  fc.assert(
    fc.property(
      text,
      fc.array(fc.record({ constant: text, isToken: fc.boolean() }), { maxLength: 4 }),
      fc.array(fc.array(fc.tuple(text, token), { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      (first, following, fillings) => {
        const lengths = following.map(({ isToken }) => (isToken ? 120 : undefined))
        const form = new TextForm([first, ...following.map(({ constant }) => constant)], lengths)
        for (const values of fillings) {
          const filled = form.fill(following.map(({ isToken }, index) => values[index]![isToken ? 1 : 0]))
          const encoded = encodeText(filled, '=_0')
          expect(encoded).toEqual(encodeText(String(filled), '=_0'))
          encodings.set(encoded.encoding, (encodings.get(encoded.encoding) ?? 0) + 1)
        }
      },
    ),
    { numRuns: 3_000 },
  )
  expect(Math.min(...encodings.values())).toBeGreaterThan(300)
})
