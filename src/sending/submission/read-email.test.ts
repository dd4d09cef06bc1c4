import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { submissionLimits } from './limits.ts'
import { headersToSend } from './message-head.ts'
import { readEmail } from './read-email.ts'

const now = new Date('2026-11-18T08:00:00Z')

/** Reads an email in chunks. Lines end with LF in the source. */
async function read(source: string | Buffer, { chunkBytes = 1_000, isMarketing = false } = {}) {
  const bytes = Buffer.isBuffer(source) ? source : Buffer.from(source.replaceAll('\n', '\r\n'))
  async function* content() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
  const written: Buffer[] = []
  const email = await readEmail(content(), submissionLimits, new Pacer('organization'), async () => ({
    write: async (chunk) => void written.push(Buffer.from(chunk)),
  }))
  return {
    ...email,
    ...headersToSend(email.head, { isMarketing, now }),
    body: Buffer.concat(written).toString('latin1'),
  }
}

const rejection = (source: string) => read(source).catch((error: Error) => error.message)
const minimal =
  'From: a@acme.example\nMessage-ID: <1@acme.example>\nDate: Wed, 18 Nov 2026 08:00:00 +0000\nTo: b@example.com\nMIME-Version: 1.0\n'

test('keeps headers and body byte for byte, in any chunks', async () => {
  const source = `Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nX-Mailer:  my mailer\n\tfolded\n${minimal}List-Unsubscribe: <https://acme.example>\n\n.Hello\n\nBye`
  for (const chunkBytes of [1, 3, 1_000]) {
    const { head, headers, body, parts } = await read(source, { chunkBytes })
    expect(headers).toBe(`${source.slice(0, source.indexOf('\n\n') + 1).replaceAll('\n', '\r\n')}`)
    expect(body).toBe('.Hello\r\n\r\nBye')
    expect(head).toMatchObject({
      subject: 'Grüße',
      from: { name: null, email: 'a@acme.example' },
      messageId: '<1@acme.example>',
    })
    expect(parts).toMatchObject([{ kind: 'text', content: '.Hello\r\n\r\nBye' }])
  }
})

test('removes hidden recipients, traces, signatures, and headers that control mail providers', async () => {
  const dropped = ['Bcc: secret@example.com', 'Resent-Bcc: s@example.com', 'Return-Path: <x@acme.example>']
  const more = ['Received: from here\n by there', 'DKIM-Signature: v=1; b=x', 'ARC-Seal: i=1', 'X-SMTPAPI: {}']
  const others = [
    'x-ses-configuration-set: theirs',
    'X-Mailgun-Variables: {}',
    'X-Waxwing-Track: opens',
    'X-Waxwing-Id: 1',
  ]
  const relays = [
    'X-Virtual-MTA',
    'x-virtualmta',
    'X-Job',
    'X-GreenArrow-VirtualMTA',
    'X-Sending-Zone',
    'X-Tenant',
    'X-Binding',
    'X-VMTA',
    'X-KumoRef',
    'X-Kumo-Pool',
    'X-Campaign',
    'X-IP-Pool',
  ]
  const providers = [
    'X-Postmark-Server',
    'X-MT-Category',
    'X-Envelope-To',
    'X-Elasticemail-Pool',
    'X-PM-Tag',
    'X-SES-A',
  ]
  const named = [...relays, ...providers].map((name) => `${name}: theirs`)
  const { headers } = await read(`${[...dropped, ...more, ...others, ...named].join('\n')}\n${minimal}\nHello\n`)
  expect(headers).toBe(minimal.replaceAll('\n', '\r\n'))
})

test('adds what an email must have, and our own unsubscribe headers to marketing email only', async () => {
  const { headers } = await read('From: a@acme.example\nList-Unsubscribe: <x:y>\n\nHello\n', { isMarketing: true })
  expect(headers).toMatch(
    /^From: a@acme\.example\r\nTo: undisclosed-recipients:;\r\nDate: Wed, 18 Nov 2026 08:00:00 \+0000\r\nMessage-ID: <[\w-]+@acme\.example>\r\nMIME-Version: 1\.0\r\n$/,
  )
})

test('accepts an email without a body, and converts bare line endings', async () => {
  expect(await read('From: a@acme.example')).toMatchObject({ body: '' })
  expect(await read('From: a@acme.example\n')).toMatchObject({ body: '' })
  expect(await read(Buffer.from('From: a@acme.example\nSubject: x\n\n.\n.\r\rend'))).toMatchObject({
    body: '.\r\n.\r\n\r\nend',
    head: { subject: 'x' },
  })
})

test('writes text beyond ASCII in headers so that every mail server accepts it', async () => {
  const { head, headers } = await read(
    'From: Zoë Müller <zoe@bücher.example>\nTo: "Ünal, K." <unal@example.com>, büro@example.com\nCc: Žofia <z@žofia.example>\nSubject: Grüße 👋\nX-Note: schön\n\nHallo\n',
  )
  expect(headers).toMatch(/^To: "Ünal, K\." <unal@example\.com>, büro@example\.com\r$/m)
  expect(headers.replace(/^To: .*$/m, '')).toMatch(/^[\x20-\x7e\r\n]*$/)
  const parsed = await PostalMime.parse(`${headers}\r\n`)
  expect(parsed).toMatchObject({
    from: { name: 'Zoë Müller', address: 'zoe@xn--bcher-kva.example' },
    cc: [{ name: 'Žofia', address: 'z@xn--ofia-kbb.example' }],
    subject: 'Grüße 👋',
  })
  expect(head).toMatchObject({ subject: 'Grüße 👋', from: { email: 'zoe@xn--bcher-kva.example' } })
})

test('From is written again, so that its address is the one that was checked', async () => {
  const { head, headers } = await read('From: "ceo@bank.example" <a@acme.example> (ceo@bank.example)\n\nHello\n')
  expect(head.from.email).toBe('a@acme.example')
  expect(headers).toMatch(/^From: "ceo@bank\.example" <a@acme\.example>\r\n/)
})

test.each([
  ['Subject: x\n\nHello', 'The email has no From header.'],
  ['From: a@acme.example, b@acme.example\n\nHello', 'The From header must have exactly one address.'],
  ['From: a@acme.example\nFrom: b@acme.example\n\nHello', 'The header from occurs more than once.'],
  [
    'From: a@acme.example\nContent-Type: text/html\nContent-Type: text/plain\n\nx',
    'The header content-type occurs more than once.',
  ],
  ['From: nobody\n\nHello', 'The address in the From header'],
  ['From: a@acme.example\nno field\n\nHello', 'a line that is not a header field'],
  [`From: a@acme.example\n${'X: y\n'.repeat(1_001)}\nHello`, 'more than 1000 header fields'],
  [`From: a@acme.example\nX: ${'y'.repeat(200_000)}\n\nHello`, 'larger than 128 KiB'],
  [`From: a@acme.example\n\n${'x'.repeat(1_100_000)}`, 'a line of more than 1024 KiB'],
  ['From: a@acme.example\nX-Waxwing-Tag: a=b\n\nHello', 'x-waxwing-tag is not a header that Waxwing knows.'],
  ['From: a@acme.example\nX-Waxwing-Track: open\n\nHello', 'X-Waxwing-Track must be'],
  ['From: a@acme.example\nX-Waxwing-Kind: spam\n\nHello', 'X-Waxwing-Kind must be'],
  ['From: a@acme.example\nX-Waxwing-Tags: order\n\nHello', 'X-Waxwing-Tags must be a list'],
  ['From: a@acme.example\nX-Waxwing-Context: {}\n\nHello', 'X-Waxwing-Context requires X-Waxwing-Flow.'],
  [
    `From: a@acme.example\nX-Waxwing-Flow: flw_1\nX-Waxwing-Context: ${'=?utf-8?q?=20?=\n '.repeat(5_000)}{}\n\nHello`,
    'X-Waxwing-Context must have at most 8 KiB of encoded words.',
  ],
  [
    'From: a@acme.example\nX-Waxwing-Flow: flw_1\nX-Waxwing-Context: [1]\n\nHello',
    'X-Waxwing-Context must be a JSON object.',
  ],
  [
    'From: a@acme.example\nX-Waxwing-Flow: flw_1\nX-Waxwing-Track: opens\n\nHello',
    'cannot be combined with X-Waxwing-Flow',
  ],
  [
    'From: a@acme.example\nX-Waxwing-Kind: marketing\nX-Waxwing-Kind: marketing\n\nHello',
    'X-Waxwing-Kind must occur once.',
  ],
])('rejects %.80j', async (source, expected) => {
  expect(await rejection(source)).toContain(expected)
})

test('reads the headers that control the email, also folded and encoded', async () => {
  const { controls } = await read(
    `${minimal}X-Waxwing-Flow: flw_1\nX-Waxwing-Context: {"order":\n 1042, "name":\n =?utf-8?q?=22Zo=C3=AB=22?=}\nX-Waxwing-Tags: order=1042 ,shop=vienna\n\nHello\n`,
  )
  expect(controls).toMatchObject({
    flow: { id: 'flw_1', context: { order: 1042, name: 'Zoë' } },
    tags: [
      { name: 'order', value: '1042' },
      { name: 'shop', value: 'vienna' },
    ],
    kind: 'transactional',
    tracking: { opens: false, clicks: false },
  })
  const other = await read(`${minimal}X-Waxwing-Kind: Marketing\nX-Waxwing-Track: clicks, Opens\n\nHello\n`)
  expect(other.controls).toMatchObject({ flow: null, kind: 'marketing', tracking: { opens: true, clicks: true } })
})

test.each([
  [`X-Header: ${'value '.repeat(200)}\r\n`, 'larger than 128 KiB'],
  ['X-Header: value\r\n folded\r\n', 'more than 1000 header fields'],
])('an endless header is rejected before it is complete: %#', async (field, reason) => {
  let bytes = 0
  async function* endless() {
    for (; bytes < 10_000_000; bytes += field.length) yield Buffer.from(field)
  }
  await expect(
    readEmail(endless(), submissionLimits, new Pacer('organization'), async () => undefined),
  ).rejects.toThrow(reason)
  expect(bytes).toBeLessThan(200_000)
})
