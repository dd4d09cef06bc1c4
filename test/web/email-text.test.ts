import { domainToASCII, domainToUnicode } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emailText } from '../../web/src/ui/email-text.ts'

test('shows domains in Unicode and leaves everything else alone', () => {
  expect(emailText('ada@xn--exmple-cua.org')).toBe('ada@exämple.org')
  expect(emailText('ada@mail.xn--bcher-kva.xn--p1ai')).toBe('ada@mail.bücher.рф')
  expect(emailText('xn--ada@example.com')).toBe('xn--ada@example.com')
  for (const invalid of ['ada@xn--', 'ada@xn--é.org', 'ada@xn--a-.org', 'ada@xn--99999999.org'])
    expect(emailText(invalid)).toBe(invalid)
})

test('agrees with Node for domains in many scripts', () => {
  const letters = fc.constantFrom(...'abcdefgäöüßéèñçøåæœłżабвгдежяλμνπ日本語中文한국어ไทย')
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 12 }), (characters) => {
      const ascii = domainToASCII(`${characters.join('')}.example`)
      fc.pre(ascii !== '')
      expect(emailText(`a@${ascii}`)).toBe(`a@${domainToUnicode(ascii)}`)
    }),
  )
})
