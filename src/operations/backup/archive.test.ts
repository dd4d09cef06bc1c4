import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Encrypter } from 'age-encryption'
import { afterAll, expect, test } from 'vitest'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { type ArchivedFile, filesOfLines, readArchive, writeArchive } from './archive.ts'

const folder = mkdtempSync(join(tmpdir(), 'waxwing-archive-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const random = announcedSeed('backups')
const passphrase = 'correct horse battery staple'
let count = 0

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = []
  for await (const value of values) found.push(value)
  return found
}

async function* pieces<Value>(values: Value[]): AsyncGenerator<Value> {
  yield* values
}

/** Writes an archive and returns its path. */
async function write(contents: Buffer[], phrase?: string): Promise<string> {
  const path = join(folder, `file-${count++}`)
  const files = contents.map((content, index): ArchivedFile => ({ name: `file/${index}`, content }))
  await writeArchive(path, pieces(files), phrase)
  return path
}

/** Encrypts with the least work, so that the archive can be opened often. */
async function writeEncrypted(contents: Buffer[]): Promise<string> {
  const path = await write(contents)
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(1)
  writeFileSync(path, await encrypter.encrypt(readFileSync(path)))
  return path
}

async function read(path: string, phrase?: string): Promise<Buffer[]> {
  const found: Buffer[] = []
  for await (const { name, content } of readArchive(path, phrase)) {
    expect(name).toBe(`file/${found.length}`)
    found.push(Buffer.concat(await all(content)))
  }
  return found
}

test.for([undefined, passphrase])(
  'files of any size are read as they were written (passphrase: %s)',
  async (phrase) => {
    for (const sizes of [...(phrase ? [] : [[], [65_536]]), [512, 0, 513, 3_000_000]]) {
      const contents = sizes.map((size) => random.bytes(size))
      const found = await read(await write(contents, phrase), phrase)
      expect(found.map((content, index) => contents[index]?.equals(content))).toEqual(sizes.map(() => true))
    }
  },
)

test('tar lists the files and reads their content', async () => {
  const path = await write([Buffer.from('first'), random.bytes(100_000)])
  expect(execFileSync('tar', ['tzf', path], { encoding: 'utf8' })).toBe('file/0\nfile/1\n')
  expect(execFileSync('tar', ['xzOf', path, 'file/0'], { encoding: 'utf8' })).toBe('first')
})

test('lines are divided into files of whole lines, however they arrive', async () => {
  const lines = Array.from({ length: 4_000 }, (_, n) => `${'x'.repeat(random.int(0, 6_000))} ${n}\n`)
  lines[1_000] = `${'long'.repeat(2_000_000)}\n`
  const text = Buffer.from(lines.join(''))
  const arriving: Buffer[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + random.int(1, 200_000)
    arriving.push(text.subarray(at, end))
    at = end
  }
  const files = await all(filesOfLines('tables/a', pieces(arriving)))
  expect(files.length).toBeGreaterThan(3)
  expect(Buffer.concat(files.map(({ content }) => content)).equals(text)).toBe(true)
  expect(files.filter(({ content }) => content.at(-1) !== 10)).toEqual([])
  expect(Math.max(...files.map(({ content }) => content.length))).toBeLessThan(13_000_000)
  expect(files.map(({ name }) => name)).toEqual(files.map((_, at) => `tables/a/${String(at + 1).padStart(6, '0')}`))
  expect(await all(filesOfLines('tables/b', pieces([])))).toEqual([
    { name: 'tables/b/000001', content: Buffer.alloc(0) },
  ])
})

test('only the owner can read the file, and an existing file is not replaced', async () => {
  const path = await write([Buffer.from('first')])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const again = writeArchive(path, pieces([{ name: 'file/0', content: Buffer.from('second') }]))
  await expect(again).rejects.toThrow('already exists')
  expect(await read(path)).toEqual([Buffer.from('first')])
})

test.for([undefined, passphrase])('a backup that fails leaves no file (passphrase: %s)', async (phrase) => {
  const path = join(folder, 'failed')
  const failing = async function* () {
    yield { name: 'file/0', content: Buffer.from('some') }
    throw new Error('the connection was lost')
  }
  await expect(writeArchive(path, failing(), phrase)).rejects.toThrow('the connection was lost')
  expect([existsSync(path), existsSync(`${path}.unfinished`)]).toEqual([false, false])
})

test('an encrypted backup is unreadable without its passphrase', async () => {
  const text = Buffer.from('ada@example.com '.repeat(1_000))
  const path = await write([text], passphrase)
  expect(readFileSync(path).includes('ada@example')).toBe(false)
  await expect(read(path)).rejects.toThrow('The backup is encrypted.')
  await expect(read(path, 'another passphrase')).rejects.toThrow('The passphrase is wrong.')
  expect(await read(path, passphrase)).toEqual([text])
})

test.for([undefined, passphrase])(
  'no file of a truncated or changed backup is read (passphrase: %s)',
  async (phrase) => {
    const contents = [random.bytes(30_000), random.bytes(200_000)]
    const path = await (phrase ? writeEncrypted(contents) : write(contents))
    const whole = readFileSync(path)
    for (let n = 0; n < 40; n++) {
      const damaged = Buffer.from(whole)
      const at = random.int(phrase ? 0 : 10, whole.length - 1)
      damaged[at]! ^= 1 << random.int(0, 7)
      writeFileSync(path, n % 2 ? damaged : whole.subarray(0, at))
      const first = readArchive(path, phrase).next()
      await expect(first, `byte ${at}`).rejects.toThrow(/incomplete or damaged|not a backup|passphrase is wrong/)
    }
  },
)

test('a backup with parts removed, swapped or of another file is rejected', async () => {
  const [path, other] = [await writeEncrypted([random.bytes(300_000)]), await writeEncrypted([random.bytes(300_000)])]
  const bytes = readFileSync(path)
  // The header of age ends with its MAC, and a nonce of 16 bytes follows. Each chunk has a tag of 16 bytes.
  const start = bytes.indexOf(10, bytes.indexOf('\n--- ') + 1) + 1 + 16
  const chunk = 64 * 1024 + 16
  const [header, ...chunks] = [
    bytes.subarray(0, start),
    ...Array.from({ length: 4 }, (_, n) => bytes.subarray(start + n * chunk, start + (n + 1) * chunk)),
  ]
  const [first, second, third] = chunks as [Buffer, Buffer, Buffer]
  const modified = {
    removed: [header!, first, ...chunks.slice(2)],
    swapped: [header!, second, first, ...chunks.slice(2)],
    shortened: [header!, first, second, third],
    mixed: [readFileSync(other).subarray(0, start), ...chunks],
  }
  for (const [name, parts] of Object.entries(modified)) {
    writeFileSync(path, Buffer.concat(parts))
    await expect(read(path, passphrase), name).rejects.toThrow('incomplete or damaged')
  }
})

test('a file that asks for more memory than any backup needs is rejected at once', async () => {
  const path = await write([Buffer.from('some')], passphrase)
  const text = readFileSync(path, 'latin1')
  expect(text).toMatch(/^-> scrypt \S+ 17$/m)
  writeFileSync(path, text.replace(/^(-> scrypt \S+) 17$/m, '$1 40'), 'latin1')
  await expect(read(path, passphrase)).rejects.toThrow('scrypt work factor is too high')
})

test('other files are rejected with a reason', async () => {
  const path = join(folder, 'other')
  writeFileSync(path, 'PGDMP and so on')
  await expect(read(path)).rejects.toThrow('is not a backup')
  await expect(read(join(folder, 'missing'))).rejects.toThrow('cannot be read')
})
