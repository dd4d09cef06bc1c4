import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseEmail } from './email.ts'

test('trims an address, lower-cases its domain and keeps its local part', () => {
  expect(parseEmail('  Ada.Lovelace@Example.COM ')).toEqual({
    ok: true,
    address: 'Ada.Lovelace@example.com',
    key: 'ada.lovelace@example.com',
  })
  expect(parseEmail('Joerg@Bücher.example')).toEqual({
    ok: true,
    address: 'Joerg@xn--bcher-kva.example',
    key: 'joerg@xn--bcher-kva.example',
  })
})

test('rejects invalid addresses', () => {
  const wrong = [
    ...['', ' ', 'ada', '@example.com', 'ada@', 'ada@example', 'ada@@example.com', 'a b@example.com', '.a@example.com'],
    ...['a..b@example.com', 'a.@example.com', 'ada@-example.com', 'ada@example-.com', 'ada@exa_mple.com'],
    ...['ada@127.0.0.1', 'ada@[127.0.0.1]', 'ada@1.2', 'ada@0x7f.1'],
    ...['ada\0@example.com', 'ada@exam\0ple.com', 'ada@xn--.com', 'Ada <ada@example.com>', 'ada@example.com, b@b.com'],
    ...[`${'a'.repeat(65)}@example.com`, `a@${'b'.repeat(64)}.com`, `a@${'b.'.repeat(130)}com`, '\ud800@example.com'],
    ...[
      'ada@example.com/foo',
      'ada@example.com?x=1',
      'ada@example.com#frag',
      'ada@example.com\\x',
      'ada@exam%70le.com',
    ],
    ...[
      'jörg@example.com',
      '用户@example.com',
      'ada@exa\nmple.com',
      'ada@exa\tmple.com',
      'ada@example.com:25',
      'jörg@bücher.example/foo',
    ],
    ...[42, null, undefined, {}, ['ada@example.com']],
  ]
  for (const input of wrong) expect(parseEmail(input), String(input)).toMatchObject({ ok: false })
})

test('names the letter that is not supported before the @', () => {
  const problem = 'contains "ë" before the @, which most mail servers do not accept'
  expect(parseEmail('zoë@example.com')).toEqual({ ok: false, problem })
  expect(parseEmail('zo\u200be@example.com')).toMatchObject({ problem: expect.stringContaining('check the part') })
  expect(parseEmail(`${'a'.repeat(65)}@example.com`)).toMatchObject({ problem: expect.stringContaining('at most 64') })
})

test('parsing is idempotent, and addresses that differ in case have the same key', () => {
  const address = fc.oneof(
    fc.emailAddress(),
    fc
      .tuple(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.domain())
      .map(([local, domain]) => `${local}@${domain}`),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(address, (text) => {
      const parsed = parseEmail(text)
      if (!parsed.ok) return
      expect(parseEmail(parsed.address)).toEqual(parsed)
      expect(parseEmail(parsed.key)).toEqual({ ok: true, address: parsed.key, key: parsed.key })
      expect(parsed.address).not.toMatch(/[\s\0<>,;:"\\]/)
    }),
    { numRuns: 500 },
  )
})

test('the fast path for plain addresses agrees with the full rules', () => {
  const label = fc.stringMatching(/^[a-zA-Z0-9-]{1,8}$/)
  const domain = fc.array(fc.oneof(label, fc.constantFrom('xn--bcher-kva', 'XN--x', 'com', '0x7f', '1')), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z.+_-]{1,66}$/), domain, (local, labels) => {
      const parsed = parseEmail(`${local}@${labels.join('.')}`)
      const ascii = domainToASCII(labels.join('.'))
      const fine =
        local.length <= 64 &&
        !/^\.|\.\.|\.$/.test(local) &&
        ascii.includes('.') &&
        ascii.split('.').every((each) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(each)) &&
        !/\.\d+$/.test(ascii)
      expect(parsed).toEqual(
        fine
          ? { ok: true, address: `${local}@${ascii}`, key: `${local.toLowerCase()}@${ascii}` }
          : { ok: false, problem: expect.any(String) },
      )
    }),
    { numRuns: 2_000 },
  )
})
