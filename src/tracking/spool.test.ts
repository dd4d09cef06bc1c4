import { appendFileSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Spool, SpoolFull } from './spool.ts'

const home = mkdtempSync(join(tmpdir(), 'waxwing-spool-'))
const opened: Spool[] = []
afterAll(async () => {
  await Promise.all(opened.map((spool) => spool.close()))
  rmSync(home, { recursive: true, force: true })
})
function openSpool(...options: ConstructorParameters<typeof Spool>): Spool {
  const spool = new Spool(...options)
  opened.push(spool)
  return spool
}

let count = 0
const newFolder = () => join(home, `spool-${count++}`)

async function contentOf(spool: Spool): Promise<unknown[]> {
  const lines: string[] = []
  await spool.replay(async (some) => void lines.push(...some))
  return lines.map((line) => JSON.parse(line))
}

test('what was appended is replayed in order, once, by whichever process comes', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  await Promise.all(Array.from({ length: 1_200 }, (_, n) => spool.append({ n })))
  await spool.append({ n: 1_200 })
  const other = openSpool(folder)
  expect(await contentOf(other)).toEqual(Array.from({ length: 1_201 }, (_, n) => ({ n })))
  expect(await contentOf(spool)).toEqual([])
  expect(readdirSync(folder)).toEqual([])
})

test('lines written while another process takes the file away are not lost', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  const thief = openSpool(folder)
  const found: unknown[] = []
  const steal = async () => void found.push(...(await contentOf(thief)))
  const numbers = Array.from({ length: 300 }, (_, n) => n)
  for (const n of numbers) await Promise.all([spool.append({ n }), n % 3 === 0 && steal()])
  await steal()
  expect(new Set(found.map((line) => (line as { n: number }).n))).toEqual(new Set(numbers))
})

test('a line that a crash tore is left out, and those before it are not', async () => {
  const folder = newFolder()
  await openSpool(folder).append({ n: 1 })
  const [name] = readdirSync(folder)
  appendFileSync(join(folder, name!), '{"n":2}\n{"n":')
  expect(await contentOf(openSpool(folder))).toEqual([{ n: 1 }, { n: 2 }])
})

test('a file whose replay failed, or whose replayer died, is replayed again', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  await spool.append({ n: 1 })
  const failing = spool.replay(async () => {
    throw new Error('the database went away again')
  })
  await expect(failing).rejects.toThrow('went away')
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.replay$/)])
  expect(await contentOf(openSpool(folder))).toEqual([{ n: 1 }])
})

test('it takes as much as it may, says when it is full, and has room again after a replay', async () => {
  const folder = newFolder()
  const spool = openSpool(folder, { bytesMax: 100 })
  const line = { text: 'x'.repeat(28) } // 40 bytes on the disk
  await spool.append(line)
  await spool.append(line)
  await expect(spool.append(line)).rejects.toThrow(SpoolFull)
  await expect(openSpool(folder, { bytesMax: 100 }).append(line)).rejects.toThrow(SpoolFull)
  expect(await contentOf(spool)).toHaveLength(2)
  await spool.append(line)
  expect(await contentOf(spool)).toHaveLength(1)
})

test('files are kept small enough to be read whole', async () => {
  const folder = newFolder()
  const spool = openSpool(folder, { fileBytesMax: 50 })
  for (let n = 0; n < 10; n++) await spool.append({ n, text: 'x'.repeat(30) })
  expect(readdirSync(folder)).toHaveLength(5)
  expect(await contentOf(spool)).toHaveLength(10)
})

test('foreign files in its folder are left alone', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  await spool.append({ n: 1 })
  writeFileSync(join(folder, 'README'), 'mine')
  renameSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl'))!), join(folder, 'kept.jsonl'))
  expect(await contentOf(spool)).toEqual([{ n: 1 }])
  expect(readdirSync(folder)).toEqual(['README'])
})

test('nothing to replay is no fault', async () => {
  expect(await contentOf(openSpool(newFolder()))).toEqual([])
})
