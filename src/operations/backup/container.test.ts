import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { openContainer, writeContainer } from './container.ts'

const folder = mkdtempSync(join(tmpdir(), 'waxwing-container-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const random = announcedSeed('backups')
const passphrase = 'correct horse battery staple'
let count = 0

/** Writes a backup and returns its path. */
async function write(content: Buffer[], options: { passphrase?: string } = {}): Promise<string> {
  const path = join(folder, `file-${count++}`)
  await writeContainer(path, pieces(content), { waxwing: '0.0.0', ...options })
  return path
}

async function* pieces(content: Buffer[]): AsyncGenerator<Buffer> {
  yield* content
}

async function read(path: string, options: { passphrase?: string } = {}): Promise<Buffer> {
  await using container = await openContainer(path, options)
  const found: Buffer[] = []
  for await (const piece of container.content) found.push(piece)
  return Buffer.concat(found)
}

/** Replaces the content of a file with `bytes` and their checksum, like an attacker. */
const forge = (path: string, bytes: Buffer) =>
  writeFileSync(path, Buffer.concat([bytes, createHash('sha256').update(bytes).digest()]))
const withoutChecksum = (path: string) => readFileSync(path).subarray(0, -32)

test.for([undefined, passphrase])('content of any size is read as it was written (passphrase: %s)', async (phrase) => {
  const options = phrase === undefined ? {} : { passphrase: phrase }
  for (const content of [[], [random.bytes(1)], [random.bytes(65_536)], [random.bytes(300_000), random.bytes(77)]])
    expect((await read(await write(content, options), options)).equals(Buffer.concat(content))).toBe(true)
})

test('only the owner can read the file, and an existing file is not replaced', async () => {
  const path = await write([Buffer.from('first')])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const again = writeContainer(path, pieces([Buffer.from('second')]), { waxwing: '0.0.0' })
  await expect(again).rejects.toThrow('already exists')
  expect((await read(path)).toString()).toBe('first')
})

test('a backup that fails leaves no file', async () => {
  const path = join(folder, 'failed')
  const failing = async function* () {
    yield Buffer.from('some')
    throw new Error('the connection was lost')
  }
  await expect(writeContainer(path, failing(), { waxwing: '0.0.0' })).rejects.toThrow('the connection was lost')
  expect([existsSync(path), existsSync(`${path}.unfinished`)]).toEqual([false, false])
})

test('an encrypted backup is unreadable without its passphrase', async () => {
  const text = 'ada@example.com '.repeat(1_000)
  const path = await write([Buffer.from(text)], { passphrase })
  expect(readFileSync(path).includes('ada@example')).toBe(false)
  await expect(read(path)).rejects.toThrow('The backup is encrypted.')
  await expect(read(path, { passphrase: 'another passphrase' })).rejects.toThrow('The passphrase is wrong.')
  expect((await read(path, { passphrase })).toString()).toBe(text)
})

test('a truncated or changed file is rejected, wherever it was changed', async () => {
  for (const options of [{}, { passphrase }]) {
    const path = await write([random.bytes(100_000)], options)
    const whole = readFileSync(path)
    for (let n = 0; n < 20; n++) {
      const damaged = Buffer.from(whole)
      const at = random.int(0, whole.length - 1)
      damaged[at]! ^= 1 << random.int(0, 7)
      writeFileSync(path, random.chance(0.5) ? damaged : whole.subarray(0, at))
      await expect(read(path, options)).rejects.toThrow(/checksum|not a backup|incomplete/)
    }
  }
})

test('a backup with chunks removed, swapped or of another file is rejected, even with a correct checksum', async () => {
  const options = { passphrase }
  const path = await write([random.bytes(200_000)], options)
  const bytes = withoutChecksum(path)
  const headerBytes = bytes.indexOf(10, bytes.indexOf(10) + 1) + 1
  const header = bytes.subarray(0, headerBytes)
  const chunks: Buffer[] = []
  for (let at = headerBytes; at < bytes.length; at += 4 + bytes.readUInt32BE(at))
    chunks.push(bytes.subarray(at, at + 4 + bytes.readUInt32BE(at)))
  const end = chunks.pop()!
  expect(chunks.length).toBeGreaterThan(3)

  const [first, second, ...rest] = chunks as [Buffer, Buffer, ...Buffer[]]
  const modified = {
    removed: [first, ...rest, end],
    swapped: [first, rest[0]!, second, ...rest.slice(1), end],
    shortened: [first, second, end],
  }
  for (const [name, order] of Object.entries(modified)) {
    forge(path, Buffer.concat([header, ...order]))
    await expect(read(path, options), name).rejects.toThrow('was modified')
  }
  forge(path, Buffer.concat([Buffer.from(header.toString().replace('0.0.0', '0.0.1')), ...chunks, end]))
  await expect(read(path, options)).rejects.toThrow('passphrase is wrong')
})

test('a file without the empty chunk at its end is rejected', async () => {
  const path = await write([random.bytes(1_000)])
  forge(path, withoutChecksum(path).subarray(0, -4))
  await expect(read(path)).rejects.toThrow('incomplete')
})

test('other files are rejected with a reason', async () => {
  const path = join(folder, 'other')
  writeFileSync(path, 'PGDMP and so on')
  await expect(read(path)).rejects.toThrow('is not a backup')
  await expect(read(join(folder, 'missing'))).rejects.toThrow('cannot be read')
})
