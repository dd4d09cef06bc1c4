import { expect, test } from 'vitest'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { Refusal } from '../values/errors.ts'
import { JsonWithFiles } from './json-with-files.ts'

const limits = { textBytesMax: 100_000, valuesMax: 1_000, depthMax: 10 }
const isFile = (path: readonly string[]) => path.join('/') === 'attachments/[]/content'

type Read = { body: unknown; files: { bytes: Buffer; problem: string | null }[] }

async function read(text: string | Buffer, sizes: () => number = () => 7, options = limits): Promise<Read> {
  const files: Read['files'] = []
  const reader = new JsonWithFiles({
    ...options,
    isFile,
    openFile: () => {
      const parts: Buffer[] = []
      return {
        write: (bytes) => void parts.push(Buffer.from(bytes)),
        end: async (problem) => void files.push({ bytes: Buffer.concat(parts), problem }),
      }
    },
  })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) {
    const end = at + Math.max(1, sizes())
    await reader.write(bytes.subarray(at, end))
    at = end
  }
  return { body: JSON.parse(reader.end()), files }
}

const one = (content: string) => `{"attachments":[{"content":${content}}]}`
const fileOf = async (content: string, size = 3) => (await read(one(content), () => size)).files[0]!

test('files are decoded, and the rest stays as it is', async () => {
  const text =
    '{"to":"a\\"]}","attachments":[{"filename":"a","content":"aGVsbG8="},{"content":"AAEC"}],"content":"aGk="}'
  const { body, files } = await read(text)
  expect(files.map(({ bytes }) => bytes.toString('latin1'))).toEqual(['hello', '\0\u0001\u0002'])
  expect(body).toEqual({
    to: 'a"]}',
    attachments: [{ filename: 'a', content: '0' }, { content: '1' }],
    content: 'aGk=',
  })
})

test('base64 may be escaped, broken into lines, in the URL alphabet or without padding', async () => {
  for (const size of [1, 2, 3, 5, 100]) {
    for (const text of ['"+\\/\\/+"', '"\\u002B//\\u002b"', '"-__-"', '" +/\\r\\n/+\\n"'])
      expect((await fileOf(text, size)).bytes.toString('hex'), text).toBe('fbfffe')
    for (const text of ['"YQ"', '"YQ=="', '"YQ=\\n="', '"YQ\\u003d="', '[97]', '[ 97 ]'])
      expect(await fileOf(text, size), text).toEqual({ bytes: Buffer.from('a'), problem: null })
    expect((await fileOf('[1,22, 255,0]', size)).bytes).toEqual(Buffer.from([1, 22, 255, 0]))
    expect(await fileOf('""', size)).toEqual({ bytes: Buffer.alloc(0), problem: null })
    expect(await fileOf('[]', size)).toEqual({ bytes: Buffer.alloc(0), problem: null })
  }
})

test('what is neither base64 nor bytes is a problem of the file', async () => {
  const wrong = [
    '"a"',
    '"YQ==YQ=="',
    '"YQ===="',
    '"Y=Q="',
    '"é"',
    '"<svg>"',
    '"\\u0000"',
    '[256]',
    '[1,]',
    '[-1]',
    '[01]',
    '[1 2]',
    '[1.5]',
  ]
  for (const content of wrong)
    for (const size of [1, 4, 100]) {
      const { problem } = await fileOf(content, size)
      expect(problem, content).toMatch(/^must be base64/)
    }
})

test('a file that is not a string or an array is left to the validation', async () => {
  const { body, files } = await read(one('{"a":null}'))
  expect({ body, files }).toEqual({ body: { attachments: [{ content: { a: null } }] }, files: [] })
})

test('an escaped key names a file as well', async () => {
  const { files } = await read('{"\\u0061ttachments":[{"c\\u006fntent":"YQ=="}]}', () => 1)
  expect(files).toEqual([{ bytes: Buffer.from('a'), problem: null }])
})

test.for([
  ['an incomplete object', '{"a":', 'The body is not valid JSON.'],
  ['an incomplete file', '{"attachments":[{"content":"YQ==', 'The body is not valid JSON.'],
  ['a file with a line break', '{"attachments":[{"content":"Y\nQ=="}]}', 'The body is not valid JSON.'],
  ['deep nesting', '['.repeat(11), 'The body must be nested at most 10 levels deep.'],
  ['too many values', `[${'1,'.repeat(1_001)}1]`, 'The body must have at most 1000 values.'],
  ['a long text', `"${'x'.repeat(100_001)}"`, 'The body without its attachments exceeds the size limit.'],
] as const)('%s is rejected', async ([, text, message]) => {
  const error = await read(text, () => 4_096).catch((fault) => fault)
  expect(error).toBeInstanceOf(Refusal)
  expect(error.message).toBe(message)
})

test('invalid bytes are rejected', async () => {
  await expect(read(Buffer.from('{"a":"\xff"}', 'latin1'))).rejects.toThrow('it is not UTF-8')
})

test('random JSON in random parts is read as by JSON.parse', async () => {
  const { next: random, pick } = announcedSeed('random JSON')
  const words = ['a', '"', '\\', '\\"', '{', ']', 'é', '😀', '\n', 'content', 'attachments', '']
  const text = () => Array.from({ length: Math.floor(random() * 4) }, () => pick(words)).join('')
  const value = (depth: number): unknown => {
    const kind = depth > 3 ? 0 : Math.floor(random() * 5)
    if (kind === 1) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1))
    if (kind >= 2) return Object.fromEntries(Array.from({ length: 3 }, () => [text(), value(depth + 1)]))
    return pick([text(), 12, -0.5, true, null])
  }
  for (let round = 0; round < 300; round++) {
    const contents = Array.from({ length: Math.floor(random() * 3) }, () =>
      Buffer.from(Array.from({ length: Math.floor(random() * 40) }, () => Math.floor(random() * 256))),
    )
    const rest = value(0)
    const attachments = contents.map((content) => ({ x: value(2), content: content.toString('base64'), y: value(2) }))
    const json = JSON.stringify({ rest, attachments, end: value(0) }, null, pick([0, 1]))
    const { body, files } = await read(json, () => Math.ceil(random() * 20))
    expect(files.map(({ bytes }) => bytes)).toEqual(contents)
    const expected = JSON.parse(json)
    for (const [index, attachment] of expected.attachments.entries()) attachment.content = String(index)
    expect(body).toEqual(expected)
  }
})
