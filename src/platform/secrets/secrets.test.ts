import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder } from '../../../test/support/command.ts'
import { isRoot } from '../../../test/support/embedded-child.ts'
import { SetupFault } from '../values/errors.ts'
import { loadAppSecret } from './secrets.ts'

/** Root ignores file permissions. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (isRoot) process.seteuid!(65534)
  try {
    await work()
  } finally {
    if (isRoot) process.seteuid!(0)
  }
}

test('generates the secret once, readable only by its owner, and leaves no temporary file', async () => {
  using folder = newFolder()
  const dataDir = join(folder.path, 'data')
  const made = await loadAppSecret(dataDir)
  expect(made.length).toBeGreaterThanOrEqual(32)
  expect(await loadAppSecret(dataDir)).toBe(made)
  expect(readdirSync(dataDir)).toEqual(['secret'])
  expect(statSync(join(dataDir, 'secret')).mode & 0o777).toBe(0o600)
})

test.each([
  ['empty', ''],
  ['blank', ' \n'],
  ['cut short', 'a'.repeat(31)],
])('rejects a secret that is %s and does not change it', async (_how, content) => {
  using folder = newFolder()
  const file = join(folder.path, 'secret')
  writeFileSync(file, content)
  await expect(loadAppSecret(folder.path)).rejects.toThrow(SetupFault)
  await expect(loadAppSecret(folder.path)).rejects.toThrow(`${file} has fewer than 32 characters`)
  expect(readFileSync(file, 'utf8')).toBe(content)
})

test('in a directory that is not writable, reads the secret, and names DATA_DIR if there is none', async () => {
  using folder = newFolder()
  const secret = await loadAppSecret(join(folder.path, 'filled'))
  chmodSync(join(folder.path, 'filled/secret'), 0o644)
  for (const path of ['filled', '.']) chmodSync(join(folder.path, path), 0o555)
  await asOrdinaryUser(async () => {
    expect(await loadAppSecret(join(folder.path, 'filled'))).toBe(secret)
    await expect(loadAppSecret(folder.path)).rejects.toThrow(SetupFault)
    await expect(loadAppSecret(folder.path)).rejects.toThrow(/^DATA_DIR: .*EACCES/)
  })
})

test('names DATA_DIR if the path is not a directory', async () => {
  using folder = newFolder()
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  for (const dataDir of [file, join(file, 'below')]) {
    await expect(loadAppSecret(dataDir)).rejects.toThrow(SetupFault)
    await expect(loadAppSecret(dataDir)).rejects.toThrow(/^DATA_DIR: /)
  }
})
