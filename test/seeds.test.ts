import { execFile } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seeded, seedOfRun } from './support/seeded.ts'

test('a run that asks for no seed has the same one as all others', () => {
  expect(seedOfRun('')).toBe(1)
  expect(seedOfRun('7')).toBe(7)
  expect(() => seedOfRun('seven')).toThrow('TEST_SEED must be a whole number or "random", not "seven".')
  const drawn = Array.from({ length: 5 }, () => seedOfRun('random'))
  expect(new Set(drawn).size).toBeGreaterThan(1)
  // The workers have the seed that the run has printed, as fast-check does.
  expect(process.env.TEST_SEED).toBe(String(seedOfRun()))
  expect(fc.readConfigureGlobal().seed).toBe(seedOfRun())
})

test('a seed repeats the content of files, which differs within a run', () => {
  const [one, same] = [seeded(1), seeded(1)]
  const first = one.bytes(100_000)
  expect(first.length).toBe(100_000)
  expect(same.bytes(100_000)).toEqual(first)
  expect(one.bytes(100_000)).not.toEqual(first)
})

test('a long run draws a seed, and prints the command that repeats it', async () => {
  const run = (...options: string[]) =>
    new Promise<string>((resolve) => {
      const env = { ...process.env, npm_lifecycle_event: 'fuzz' }
      // No file has this name, so nothing is run.
      const files = ['dist/scripts/long-test.js', 'test/none.test.ts']
      execFile(process.execPath, [...files, ...options], { env }, (_error, stdout, stderr) => resolve(stdout + stderr))
    })
  const seedsIn = (output: string) =>
    [...output.matchAll(/^Repeat this run with: npm run fuzz -- --minutes 2 --seed (\d+)$/gm)].map(([, seed]) => seed)
  const [printed, repeated] = seedsIn(await run('--minutes', '2'))
  expect(printed).toMatch(/^\d+$/)
  expect(printed).not.toBe(process.env.TEST_SEED)
  expect(repeated).toBe(printed)
  expect(seedsIn(await run('--minutes', '2', '--seed', '7'))).toEqual(['7', '7'])
})
