import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId } from '../../platform/values/ids.ts'
import { Spool, SpoolFull, type SpoolLimits } from './spool.ts'

const owner = newId('org')
const home = mkdtempSync(join(tmpdir(), 'waxwing-spool-'))
const opened: Spool[] = []
afterAll(async () => {
  await Promise.all(opened.map((spool) => spool.close()))
  rmSync(home, { recursive: true, force: true })
})
function openSpool(directory: string, limits?: Partial<SpoolLimits>): Spool {
  const spool = new Spool(directory, new StageRegistry(), limits)
  opened.push(spool)
  return spool
}

let count = 0
const newFolder = () => join(home, `spool-${count++}`)

async function contentOf(spool: Spool): Promise<unknown[]> {
  const lines: string[] = []
  const faults: unknown[] = []
  await spool.replay(
    async (some) => lines.push(...some) > 0,
    (_file, error) => faults.push(error),
  )
  expect(faults).toEqual([])
  return lines.map((line) => JSON.parse(line))
}

const noFault = () => expect.unreachable()

test('lines are replayed in order, once, by any process', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  await Promise.all(Array.from({ length: 1_200 }, (_, n) => spool.append(owner, { n })))
  await spool.append(owner, { n: 1_200 })
  const other = openSpool(folder)
  expect(await contentOf(other)).toEqual(Array.from({ length: 1_201 }, (_, n) => ({ n })))
  expect(await contentOf(spool)).toEqual([])
  expect(readdirSync(folder)).toEqual([])
})

test('lines written while another process claims the file are not lost', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  const thief = openSpool(folder)
  const found: unknown[] = []
  const steal = async () => void found.push(...(await contentOf(thief)))
  const numbers = Array.from({ length: 300 }, (_, n) => n)
  for (const n of numbers) await Promise.all([spool.append(owner, { n }), n % 3 === 0 && steal()])
  await steal()
  expect(new Set(found.map((line) => (line as { n: number }).n))).toEqual(new Set(numbers))
})

test('a line truncated by a crash is skipped, and earlier ones are not', async () => {
  const folder = newFolder()
  await openSpool(folder).append(owner, { n: 1 })
  const [name] = readdirSync(folder)
  appendFileSync(join(folder, name!), '{"n":2}\n{"n":')
  expect(await contentOf(openSpool(folder))).toEqual([{ n: 1 }, { n: 2 }])
})

test('a file whose replay failed or crashed is replayed again', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  await spool.append(owner, { n: 1 })
  expect(await spool.replay(async () => false, noFault)).toBeUndefined()
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.replay$/)])
  expect(await contentOf(openSpool(folder))).toEqual([{ n: 1 }])
})

test('a file that cannot be read or replayed is kept and reported, and does not block others', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'a-folder.jsonl'), { recursive: true })
  writeFileSync(join(folder, 'bad.jsonl'), '{"n":"bad"}\n')
  const spool = openSpool(folder)
  await spool.append(owner, { n: 1 })
  const taken: string[] = []
  const faults: unknown[] = []
  const take = async (lines: string[]) => {
    if (lines.join().includes('bad')) throw new Error('cannot be replayed')
    return taken.push(...lines) > 0
  }
  const replay = () => spool.replay(take, (file, error) => faults.push([file, (error as Error).message.slice(0, 6)]))
  expect([await replay(), await replay()]).toEqual([1, 0])
  expect(taken).toEqual(['{"n":1}'])
  const reported = [
    ['a-folder', 'EISDIR'],
    ['bad', 'cannot'],
  ]
  expect(faults).toEqual([...reported, ...reported])
  rmSync(join(folder, 'a-folder.replay'), { recursive: true })
  expect(await contentOf(spool)).toEqual([{ n: 'bad' }])
})

test('a file that cannot be deleted is replayed once', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  await spool.append(owner, { n: 1 })
  const taken: string[] = []
  const replay = (onFault: () => void) =>
    spool.replay(async (lines) => {
      taken.push(...lines)
      const [name] = readdirSync(folder)
      renameSync(join(folder, name!), join(folder, 'aside'))
      mkdirSync(join(folder, name!))
      return true
    }, onFault)
  let faults = 0
  await replay(() => faults++)
  const stuck = readdirSync(folder).find((name) => name !== 'aside')
  rmSync(join(folder, stuck!), { recursive: true })
  renameSync(join(folder, 'aside'), join(folder, stuck!))
  await replay(noFault)
  expect([taken, faults, readdirSync(folder)]).toEqual([['{"n":1}'], 1, []])
})

test('check detects a spool that is not writable', async () => {
  const folder = newFolder()
  await openSpool(folder).check()
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(join(folder, 'file'), '')
  await expect(openSpool(join(folder, 'file')).check()).rejects.toThrow('EEXIST')
})

test('the spool rejects lines when full, and has room again after a replay', async () => {
  const folder = newFolder()
  const spool = openSpool(folder, { bytesMax: 100 })
  const line = { text: 'x'.repeat(28) } // 40 bytes on the disk
  await spool.append(owner, line)
  await spool.append(owner, line)
  await expect(spool.append(owner, line)).rejects.toThrow(SpoolFull)
  await expect(openSpool(folder, { bytesMax: 100 }).append(owner, line)).rejects.toThrow(SpoolFull)
  expect(await contentOf(spool)).toHaveLength(2)
  await spool.append(owner, line)
  expect(await contentOf(spool)).toHaveLength(1)
})

test('files are limited in size', async () => {
  const folder = newFolder()
  const spool = openSpool(folder, { fileBytesMax: 50 })
  for (let n = 0; n < 10; n++) await spool.append(owner, { n, text: 'x'.repeat(30) })
  expect(readdirSync(folder)).toHaveLength(5)
  expect(await contentOf(spool)).toHaveLength(10)
})

test('other files in the directory are ignored', async () => {
  const folder = newFolder()
  const spool = openSpool(folder)
  await spool.append(owner, { n: 1 })
  writeFileSync(join(folder, 'README'), 'mine')
  renameSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl'))!), join(folder, 'kept.jsonl'))
  expect(await contentOf(spool)).toEqual([{ n: 1 }])
  expect(readdirSync(folder)).toEqual(['README'])
})

test('an empty spool is not an error', async () => {
  expect(await contentOf(openSpool(newFolder()))).toEqual([])
})
