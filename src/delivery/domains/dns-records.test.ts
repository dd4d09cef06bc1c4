import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type NameAnswer, type OtherRecords, startNameServer } from '../../../test/support/name-server.ts'
import { dnsRecord, loadDkim } from '../dkim/dkim.ts'
import { lookUpRecords, type MailSetup, recordsToSet } from './dns-records.ts'

const setup: MailSetup = {
  sender: 'hello@acme.example',
  bounceDomain: undefined,
  host: 'mail.acme.example',
  relayHost: 'relay.acme.example',
  dkim: undefined,
}
const spf = (more: Partial<MailSetup>) =>
  recordsToSet({ ...setup, ...more }).find(({ purpose }) => purpose === 'SPF')?.value

function dkimSigner() {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-dkim-'))
  try {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const privateKeyFile = join(folder, 'key.pem')
    writeFileSync(privateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    return loadDkim({ domain: 'acme.example', selector: 'mail', privateKeyFile })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function lookUp(more: Partial<MailSetup>, zone: Record<string, OtherRecords>, answer: NameAnswer = []) {
  const known = (name: string): NameAnswer => (answer.length > 0 ? answer : name in zone ? [] : 'no such name')
  await using server = await startNameServer(known, (name) => zone[name] ?? {})
  const records = recordsToSet({ ...setup, ...more })
  const states = await lookUpRecords(records, [server.address])
  return Object.fromEntries(records.map(({ purpose }, index) => [purpose, states[index]!]))
}

test('derives the records from the settings: SPF for the envelope domain, DMARC for the sender’s domain', () => {
  const dkim = dkimSigner()
  expect(recordsToSet({ ...setup, bounceDomain: 'bounces.acme.example', dkim })).toEqual([
    { type: 'TXT', name: 'bounces.acme.example', value: 'v=spf1 a:relay.acme.example ~all', purpose: 'SPF' },
    { ...dnsRecord(dkim), purpose: 'DKIM' },
    { type: 'TXT', name: '_dmarc.acme.example', value: 'v=DMARC1; p=none', purpose: 'DMARC' },
    { type: 'MX', name: 'bounces.acme.example', value: '10 mail.acme.example', purpose: 'bounces' },
  ])
})

test('a sender without a public domain needs no records', () => {
  expect(recordsToSet({ ...setup, sender: 'hello@localhost', host: 'localhost', relayHost: undefined })).toEqual([])
})

test('SPF authorizes the sending hosts: the provider’s, the relay, or this one', () => {
  expect(spf({ relayHost: 'email-smtp.eu-west-1.amazonaws.com' })).toBe('v=spf1 include:amazonses.com ~all')
  expect(spf({ relayHost: 'evilsendgrid.net' })).toBe('v=spf1 a:evilsendgrid.net ~all')
  expect(spf({ relayHost: '9.9.9.9' })).toBe('v=spf1 ip4:9.9.9.9 ~all')
  expect(spf({ relayHost: '2620:fe::fe' })).toBe('v=spf1 ip6:2620:fe::fe ~all')
  for (const relayHost of ['10.0.0.9', 'fd00::9', 'mail.localhost', 'relay', 'smtp.zeptomail.eu'])
    expect([relayHost, spf({ relayHost })]).toEqual([relayHost, undefined])
  expect(spf({ relayHost: '127.0.0.1' })).toBe('v=spf1 a:mail.acme.example ~all')
  expect(spf({ relayHost: 'localhost', host: 'localhost' })).toBeUndefined()
  expect(spf({ relayHost: undefined })).toBeUndefined()
})

test('finds records in any spelling and beside other records', async () => {
  const dkim = dkimSigner()
  const wanted = dnsRecord(dkim)
  const found = await lookUp(
    { bounceDomain: 'bounces.acme.example', dkim },
    {
      'bounces.acme.example': {
        txt: ['some-site-verification=1', 'v=spf1 include:other.example +a:Relay.acme.example -all'],
        mx: ['20 backup.acme.example', '5 Mail.acme.example'],
      },
      [wanted.name]: { txt: [wanted.value.replace('k=rsa; ', '').replaceAll(';', ' ;')] },
      '_dmarc.acme.example': { txt: ['v=DMARC1;p=reject;rua=mailto:a@acme.example'] },
    },
  )
  expect(Object.values(found).map(({ status }) => status)).toEqual(['found', 'found', 'found', 'found'])
  expect(found.SPF!.found).toBe('v=spf1 include:other.example +a:Relay.acme.example -all')
})

test('reports different records with their content', async () => {
  const dkim = dkimSigner()
  const { name } = dnsRecord(dkim)
  const found = await lookUp(
    { bounceDomain: 'bounces.acme.example', dkim },
    {
      'bounces.acme.example': {
        txt: ['v=spf1 a:relay.acme.example ~all', 'v=spf1 -all'],
        mx: ['10 mx.elsewhere.example'],
      },
      [name]: { txt: ['v=DKIM1; p=AAAA'] },
      '_dmarc.acme.example': { txt: ['v=DMARC1; p=nonsense'] },
    },
  )
  expect(found).toEqual({
    SPF: { status: 'different', found: 'v=spf1 a:relay.acme.example ~all / v=spf1 -all' },
    DKIM: { status: 'different', found: 'v=DKIM1; p=AAAA' },
    DMARC: { status: 'different', found: 'v=DMARC1; p=nonsense' },
    bounces: { status: 'different', found: '10 mx.elsewhere.example' },
  })
})

test('reports missing records, whether or not the name exists', async () => {
  const missing = { status: 'missing', found: null }
  const bounceDomain = 'bounces.acme.example'
  expect(await lookUp({ bounceDomain }, {})).toEqual({ SPF: missing, DMARC: missing, bounces: missing })
  const empty = await lookUp({ bounceDomain }, { [bounceDomain]: { txt: ['hello'] } })
  expect(empty).toEqual({ SPF: missing, DMARC: missing, bounces: missing })
})

test('a domain without a DMARC policy inherits that of its parent', async () => {
  const zone = { '_dmarc.acme.example': { txt: ['v=DMARC1; p=quarantine'] } }
  const found = await lookUp({ sender: 'hello@news.mail.acme.example' }, zone)
  expect(found.DMARC).toEqual({ status: 'found', found: 'v=DMARC1; p=quarantine' })
})

test('reports records as unchecked if the name server fails or does not answer', async () => {
  for (const answer of ['failure', 'silence'] as const) {
    const found = await lookUp({}, {}, answer)
    expect(Object.values(found)).toEqual(Array(2).fill({ status: 'unchecked', found: null }))
  }
})
