import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerBytesMax, answerText } from './answer-text.ts'

test('a response in several chunks is decoded as one text, also across characters', () => {
  const bytes = Buffer.from('Grüße, 世界')

  expect(answerText([...bytes].map((byte) => Buffer.from([byte])))).toBe('Grüße, 世界')
  expect(answerText([])).toBe('')
})

test('NUL and bytes that are not UTF-8 become replacement characters', () => {
  expect(answerText([Buffer.from([0x61, 0, 0xff, 0x62, 0xc3])])).toBe('a\ufffd\ufffdb\ufffd')
})

test('a character cut by the limit is dropped', () => {
  const text = answerText([Buffer.from(`${'x'.repeat(answerBytesMax - 1)}世界`)])

  expect(text).toBe('x'.repeat(answerBytesMax - 1))
})

test('any response yields at most 16 KiB of UTF-8 without NUL', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 2 * answerBytesMax, size: 'max' }),
    fc.string({ unit: 'binary', maxLength: answerBytesMax, size: 'max' }).map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(bytes, (answer) => {
      const text = answerText([Buffer.from(answer)])
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(answerBytesMax)
      expect(text).not.toContain('\0')
      expect(Buffer.from(text).toString()).toBe(text)
    }),
  )
})
