import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verificationCode } from '../../web/src/events/webhooks/verification-code.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3Dk2FhT1Q5c='
const body = '{"event_name":"emailOpen","data":{"name":"Zoë"}}'
const now = Math.floor(Date.now() / 1000)
const sign = (t: number, key = secret) => createHmac('sha256', key).update(`${t}.${body}`).digest('hex')

/** Signature headers, and whether they are valid. */
const deliveries: [what: string, header: string, good: boolean][] = [
  ['signed with the secret', `t=${now},v1=${sign(now)}`, true],
  ['signed with the old and the new secret', `t=${now},v1=${sign(now, 'another')},v1=${sign(now)}`, true],
  ['signed with another secret', `t=${now},v1=${sign(now, 'another')}`, false],
  ['signed an hour ago', `t=${now - 3600},v1=${sign(now - 3600)}`, false],
  ['signed for another time', `t=${now + 1},v1=${sign(now)}`, false],
  ['without a time', `v1=${sign(now)}`, false],
  ['with words for a header', 'nonsense é', false],
]

const codeFor = (language: string) => verificationCode.find((candidate) => candidate.language === language)?.code ?? ''

test('the app shows verification code in four languages', () => {
  expect(verificationCode.map(({ language }) => language)).toEqual(['TypeScript', 'Python', 'Go', 'PHP'])
})

test('the TypeScript code accepts only recent signatures made with the secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-verify-'))
  try {
    const file = join(folder, 'verify.ts')
    writeFileSync(file, codeFor('TypeScript'))
    const { isFromWaxwing } = (await import(/* @vite-ignore */ file)) as {
      isFromWaxwing: (body: string, header: string, secret: string) => boolean
    }
    for (const [what, header, good] of deliveries)
      expect([what, isFromWaxwing(body, header, secret)]).toEqual([what, good])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
