import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { classifyFiles } from '../src/classify-files.ts'
import { mailBytesMax } from '../src/mail-parts.ts'
import { deliveryStatus, mail } from './build-email.ts'

async function folderWith(files: Record<string, string>) {
  const path = await mkdtemp(join(tmpdir(), 'waxwing-bounces-'))
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

async function classify(files: string[]) {
  const lines: string[] = []
  const warnings: string[] = []
  for await (const line of classifyFiles(files, (warning) => warnings.push(warning))) lines.push(line)
  return { lines, warnings }
}

const bounce = deliveryStatus(
  'Final-Recipient: rfc822; ada@example.com\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no',
)
const letter = mail({ From: 'ada@example.com', Subject: 'Hello' }, 'How are you?')

test('each file yields one line of JSON with its results', async () => {
  await using folder = await folderWith({ 'bounce.eml': bounce, 'letter.eml': letter })
  const files = [join(folder.path, 'bounce.eml'), join(folder.path, 'letter.eml')]
  const { lines, warnings } = await classify(files)
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      file: files[0],
      results: [
        {
          recipient: 'ada@example.com',
          kind: 'hard',
          status: '5.1.1',
          reply_code: 550,
          reason: 'user_unknown',
          confidence: 'medium',
          evidence: '550 5.1.1 no',
        },
      ],
    },
    {
      file: files[1],
      results: [
        {
          recipient: null,
          kind: 'none',
          status: null,
          reply_code: null,
          reason: 'not_a_bounce',
          confidence: 'high',
          evidence: null,
        },
      ],
    },
  ])
  expect(lines.every((line) => !line.includes('\n'))).toBe(true)
  expect(warnings).toEqual([])
})

test('a missing file or a folder yields a warning, and the other files are classified', async () => {
  await using folder = await folderWith({ 'bounce.eml': bounce })
  const missing = join(folder.path, 'missing.eml')
  const { lines, warnings } = await classify([missing, folder.path, join(folder.path, 'bounce.eml')])
  expect(lines).toHaveLength(1)
  expect(warnings).toHaveLength(2)
  expect(warnings[0]).toContain(missing)
  expect(warnings[1]).toContain(folder.path)
})

test('only the part of a large file that the classifier uses is read', async () => {
  await using folder = await folderWith({ 'large.eml': bounce + 'x'.repeat(2 * mailBytesMax) })
  const { lines } = await classify([join(folder.path, 'large.eml')])
  expect(JSON.parse(lines[0]!).results[0].kind).toBe('hard')
})
