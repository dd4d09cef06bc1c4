import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadPyodide } from 'pyodide'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyWebhook } from '../sdk/src/verify.ts'
import { vectorPrograms, webhookVectors } from './support/webhook-vectors.ts'

const { now, secret, body, vectors, code } = webhookVectors
const documented = vectors.map(({ what, isGenuine }) => [what, isGenuine])
const resultsOf = (printed: string) =>
  printed
    .trim()
    .split('\n')
    .map((line, at) => [vectors[at]?.what, line === 'true'])

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-vectors-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the test vectors agree with the SDK', () => {
  expect(vectors.length).toBeGreaterThan(10)
  const isGenuine = (header: string) => {
    try {
      verifyWebhook(body, { 'x-service-signature': header }, secret, { now: now * 1000 })
      return true
    } catch {
      return false
    }
  }
  expect(vectors.map(({ what, header }) => [what, isGenuine(header)])).toEqual(documented)
})

test('the TypeScript code agrees with the test vectors', async () => {
  const file = join(folder, 'verify.ts')
  writeFileSync(file, code.ts!)
  const { isFromWaxwing } = (await import(/* @vite-ignore */ file)) as {
    isFromWaxwing: (body: string, header: string, secret: string, now: number) => boolean
  }
  expect(vectors.map(({ what, header }) => [what, isFromWaxwing(body, header, secret, now)])).toEqual(documented)
})

test('the Python code of the guide and of the example agrees with the test vectors', async () => {
  const lines: string[] = []
  // CPython compiled to WebAssembly, so that the test needs no installed Python.
  const python = await loadPyodide({ stdout: (line) => lines.push(line) })
  python.runPython(vectorPrograms.python!.source)
  expect(resultsOf(lines.splice(0).join('\n'))).toEqual(documented)

  // The receiver without its server, which needs sockets.
  const example = readFileSync('examples/receiver-python/receiver.py', 'utf8')
  python.runPython(example.replace('if __name__ == "__main__":', 'if False:'))
  const receive = python.globals.get('receive')
  const bytes = python.toPy(new TextEncoder().encode(body)).tobytes()
  const statuses = vectors.map(({ what, header }) => [what, receive(bytes, header, 'dlv_1', secret, now)])
  expect(statuses).toEqual(documented.map(([what, isGenuine]) => [what, isGenuine ? 200 : 400]))
  // Three of the deliveries are genuine, and have the same id.
  expect(lines).toEqual(['emailOpen for zoe@example.com'])
})

/**
 * The languages that npm does not install. The file names the code that last agreed with the test vectors and the interpreter that
 * ran it. If the interpreter is installed, the code is run again.
 */
const verified: Record<string, { sha256: string; interpreter: string }> = JSON.parse(
  readFileSync('test/support/verified-code.json', 'utf8'),
)

test.each(['go', 'php', 'ruby'])('the %s code agrees with the test vectors', (language) => {
  const { command, args, file, source } = vectorPrograms[language]!
  writeFileSync(join(folder, file), source)
  const isInstalled = spawnSync(command, [language === 'go' ? 'version' : '--version']).status === 0
  if (isInstalled) {
    const printed = execFileSync(command, [...args, join(folder, file)], { encoding: 'utf8' })
    expect(resultsOf(printed)).toEqual(documented)
  }
  const sha256 = createHash('sha256').update(source).digest('hex')
  const advice = `Run this test with ${command} installed, then write the hash to test/support/verified-code.json.`
  expect(verified[language]?.sha256, advice).toBe(sha256)
})
