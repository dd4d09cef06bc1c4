import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRelay } from '@waxwing/smtp-client'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { type DkimSigner, dnsRecord, loadDkim } from './dkim.ts'

let folder: string
let signers: DkimSigner[]

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
const spki = { type: 'spki', format: 'pem' } as const

function saved(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const load = (privateKeyFile: string, domain = 'example.com', selector = 'mail') =>
  loadDkim({ domain, selector, privateKeyFile })

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-dkim-'))
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const pkcs1 = rsa.export({ type: 'pkcs1', format: 'pem' }) as string
  const ed25519 = generateKeyPairSync('ed25519').privateKey
  signers = [load(saved('rsa.pem', pkcs1)), load(saved('ed25519.pem', ed25519.export(pkcs8) as string))]
})

afterAll(() => rmSync(folder, { recursive: true }))

/** Verifies with another library, whose DNS contains only our record. */
async function verify(signer: DkimSigner, raw: string | Buffer): Promise<string> {
  const record = dnsRecord(signer)
  const resolver = async (name: string, type: string) => {
    if (name !== record.name || type !== record.type) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    return [record.value.match(/.{1,255}/g)!]
  }
  const { results } = await dkimVerify(raw, { resolver })
  return results[0]!.status.result
}

const message = [
  'From: Ada <ada@example.com>',
  'To: bob@example.net',
  'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
  '  and more',
  'Date: Thu, 01 Jan 2026 00:00:00 +0000',
  'Message-ID: <1@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: 8bit',
  'Reply-To: reply@example.com',
  'List-Unsubscribe: <https://example.com/u/1>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  'X-Other: not signed',
  '',
  'Grüße,  Ada\t ',
  '.',
  '',
  '',
].join('\r\n')

test('another library verifies the signature and all signed headers', async () => {
  for (const signer of signers)
    for (const raw of [message, Buffer.from(message)]) {
      const signed = signer.sign(raw)
      expect(typeof signed).toBe(typeof raw)
      expect(signed.toString().endsWith(message)).toBe(true)
      expect(signed.toString()).toContain(
        ' h=from:to:subject:date:message-id:mime-version:content-type:content-transfer-encoding:' +
          'reply-to:list-unsubscribe:list-unsubscribe-post:\r\n' +
          '  from:to:cc:subject:date:message-id:mime-version:content-type:content-transfer-encoding:' +
          'reply-to:list-unsubscribe:list-unsubscribe-post;',
      )
      expect(await verify(signer, signed)).toBe('pass')
    }
})

test('a change to a signed header or the body, or another header that recipients see, breaks the signature', async () => {
  for (const signer of signers) {
    const signed = signer.sign(message)
    for (const line of message
      .split('\r\n')
      .slice(0, 12)
      .filter((line) => !line.startsWith(' '))) {
      const changed = signed.replace(`\r\n${line}`, `\r\n${line}x`)
      expect(changed).not.toBe(signed)
      expect(await verify(signer, changed), line).not.toBe('pass')
    }
    const lines = ['Cc: eve@example.com', ...message.split('\r\n').slice(0, 12)]
    for (const line of lines.filter((each) => !/^( |X-Other)/.test(each)))
      for (const changed of [`${line}\r\n${signed}`, signed.replace('\r\nX-Other:', `\r\n${line}\r\nX-Other:`)])
        expect(await verify(signer, changed), line).not.toBe('pass')
    expect(await verify(signer, `Received: from a relay\r\nX-Spam: no\r\n${signed}`)).toBe('pass')
    expect(await verify(signer, signed.replace('Ada\t', 'Eve\t'))).not.toBe('pass')
    expect(await verify(signer, signed.replace('not signed', 'whatever'))).toBe('pass')
  }
})

test('the signature of any message remains valid through the relay', async () => {
  const word = fc.oneof(fc.constantFrom(' ', '\t', '  ', '.', 'ä', '=', 'x'), fc.string())
  const line = fc.array(word).map((words) => words.join('').replace(/[\r\n]/g, ''))
  const folded = fc.array(
    line.map((text) => `x${text}`),
    { minLength: 1, maxLength: 3 },
  )
  const body = fc.array(fc.tuple(line, fc.constantFrom('\r\n', '\n', '\r'))).map((lines) => lines.flat().join(''))
  await using server = await startRawSmtp()
  const relay = openRelay(server.url)
  await fc.assert(
    fc.asyncProperty(fc.boolean(), folded, body, fc.constantFrom(...signers), async (bytes, subject, body, signer) => {
      const raw = `From: a@example.com\r\nSubject:${subject.join('\r\n ')}\r\nTo:  b@example.net \r\n\r\n${body}`
      const signed = bytes ? signer.sign(Buffer.from(raw)) : signer.sign(raw)
      const outcome = await relay.send({ envelope: { from: 'a@example.com', to: 'b@example.net' }, raw: signed })
      expect(outcome).toMatchObject({ kind: 'accepted' })
      expect(await verify(signer, server.mails.pop()!.raw)).toBe('pass')
    }),
  )
  await relay.close()
})

test('signs duplicate fields and trailing blanks as receivers read them', async () => {
  const raw = 'From: a@example.com\r\nTo: b@example.net\r\nTo: c@example.net\r\n\r\nHello '
  for (const signer of signers) expect(await verify(signer, `${signer.sign(raw)}\r\n`)).toBe('pass')
})

test('does not sign missing headers, and uses the given time', async () => {
  const [signer] = signers as [DkimSigner]
  const signed = signer.sign('From: a@example.com\r\n\r\n', new Date('2026-01-02T03:04:05Z'))
  expect(signed).toMatch(/ t=1767323045; x=\d{10};\r\n h=from:\r\n {2}from:to:/)
  expect(await verify(signer, signed)).toBe('pass')
})

test('a signature expires after 14 days, and not before an email that is sent late arrives', async () => {
  const [signer] = signers as [DkimSigner]
  const accepted = new Date('2026-03-01T00:00:00Z')
  const after = (days: number) => {
    vi.setSystemTime(accepted.getTime() + days * dayMs)
    return signer.sign(message, accepted)
  }
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const signed = after(0)
    expect(signed).toContain(` t=${accepted.getTime() / 1000}; x=${accepted.getTime() / 1000 + 14 * 86_400};`)
    // Whatever is tried again within a week has the same bytes.
    for (const days of [0.01, 3, 6.9]) expect(after(days)).toBe(signed)
    const validDays = [0, 6.9, 7.1, 20, 22, 100, 365].map((days) => {
      const expiry = Number(/x=(\d+)/.exec(after(days))![1]) * 1000
      return (expiry - Date.now()) / dayMs
    })
    expect(Math.min(...validDays)).toBeGreaterThanOrEqual(7)
    expect(Math.max(...validDays)).toBeLessThanOrEqual(21)
    for (const [days, expected] of [
      [13.9, 'pass'],
      [14.1, 'neutral'],
    ] as const) {
      vi.setSystemTime(accepted.getTime() + days * dayMs)
      expect(await verify(signer, signed)).toBe(expected)
    }
  } finally {
    vi.useRealTimers()
  }
})

test('folds the signature into lines of valid length', () => {
  for (const signer of signers)
    for (const line of signer.sign(message).split('\r\n')) expect(line.length).toBeLessThan(256)
})

test('signs a megabyte of blanks in linear time', () => {
  const [signer] = signers as [DkimSigner]
  const blanks = ' '.repeat(1_000_000)
  const raw = `From: a@example.com\r\nSubject: ${blanks}x\r\n\r\n${blanks}x${'\r\n'.repeat(200_000)}`
  // Quadratic time would exceed the timeout of the test.
  expect(signer.sign(raw).endsWith(raw)).toBe(true)
})

test('normalizes domain and selector', () => {
  const signer = load(join(folder, 'rsa.pem'), 'Bücher.Example', 'Mail2026')
  expect(dnsRecord(signer)).toMatchObject({ name: 'mail2026._domainkey.xn--bcher-kva.example', type: 'TXT' })
  expect(dnsRecord(signer).value).toMatch(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{300,}=*$/)
  expect(dnsRecord(signers[1]!).value).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/)
})

test('rejects an unusable key with the reason', () => {
  const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
  const pair = rsa(1024)
  const file = (name: string, text: unknown) => saved(name, String(text))
  const locked = { ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'secret' }
  expect(() => load(join(folder, 'none.pem'))).toThrow(/none.pem does not exist/)
  expect(() => load(folder)).toThrow(/cannot be read \(EISDIR\)/)
  expect(() => load(file('text.pem', 'hello'))).toThrow(/does not contain a valid private key/)
  expect(() => load(file('empty.pem', ''))).toThrow(/does not contain a valid private key/)
  expect(() => load(file('public.pem', pair.publicKey.export(spki)))).toThrow(/contains a public key/)
  expect(() => load(file('locked.pem', pair.privateKey.export(locked)))).toThrow(/protected by a passphrase/)
  expect(() => load(file('short.pem', rsa(768).privateKey.export(pkcs8)))).toThrow(/RSA key of 768 bits/)
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  expect(() => load(file('ec.pem', ec.export(pkcs8)))).toThrow(/of type ec/)
  expect(() => load(join(folder, 'rsa.pem'), 'not a domain')).toThrow(/is not a domain name/)
  expect(() => load(join(folder, 'rsa.pem'), 'example.com', 'a b;')).toThrow(/DKIM_SELECTOR: "a b;" must be/)
})
