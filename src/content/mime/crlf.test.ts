import { expect, test } from 'vitest'
import { CrlfStream } from './crlf.ts'

function converted(text: string, chunkBytes: number): string {
  const stream = new CrlfStream()
  const bytes = Buffer.from(text)
  let out = ''
  for (let at = 0; at < bytes.length; at += chunkBytes) out += stream.write(bytes.subarray(at, at + chunkBytes))
  return out + stream.end()
}

test('bare CR and LF become CRLF, wherever the chunks end', () => {
  for (const chunkBytes of [1, 2, 3, 100]) {
    expect(converted('a\r\nb\nc\rd\n\r\n\r\r\n.\n.\r\n\r', chunkBytes)).toBe(
      'a\r\nb\r\nc\r\nd\r\n\r\n\r\n\r\n.\r\n.\r\n\r\n',
    )
    expect(converted('', chunkBytes)).toBe('')
  }
})

test('a chunk with proper line endings is not copied', () => {
  const chunk = Buffer.from('a\r\nb\r\n')
  expect(new CrlfStream().write(chunk)).toBe(chunk)
})
