import { request } from 'node:http'
import sharp from 'sharp'
import { dialSmtp } from './dial-smtp.ts'
import { asProgram, type HostileInput, repeat, status } from './hostile-calls.ts'
import { addMailServer } from './mail-servers.ts'
import { hang, startRawSmtp } from './raw-smtp.ts'
import type { Seeded } from './seeded.ts'
import { newCustomer } from './service.ts'
import { converse } from './smtp-inputs.ts'
import { until } from './until.ts'
import type { BroadcastVictim as Victim } from './victim.ts'

/*
 * What one organization can do to the others, with requests of permitted size. Without shares, pacing and task processes,
 * each of these stopped or delayed all organizations for seconds. `npm run test:hostile -- --only availability` repeats all.
 */

/** Another organization's email leaves within this time, whatever the input. */
const leavesWithinMs = 2_000
const withinMs = 60_000
const from = 'a@b.example'
const email = { from, to: 'ada@example.com', subject: 'x', text: 'x' }

const post = (victim: Victim, path: string, body: string) =>
  status(victim, { path: `/public/api/v1${path}`, headers: asProgram(victim), body })

/** Sends the request from several callers at the same time, each of them `times` times. */
async function repeated(callers: number, times: number, run: () => Promise<number>): Promise<number[]> {
  const answers: number[] = []
  const caller = async () => {
    for (let at = 0; at < times; at++) answers.push(await run())
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.round(callers)) }, caller))
  return answers
}

const many = <Value>(count: number, value: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => value(at))

type Load = {
  name: string
  callers: number
  times?: number
  path?: string
  body: (random: Seeded, group: string) => unknown
}

const batch = '/emails/batch?atomic=true'
/** The last email is invalid, so nothing is stored. */
const invalid = { ...email, to: 'nobody' }
const attachment = (at: number, bytes: number) => ({
  filename: `${at}.txt`,
  content: Buffer.alloc(bytes, `${at} `).toString('base64'),
})

const loads: Load[] = [
  {
    name: 'unknown fields',
    callers: 1,
    path: '/emails',
    body: () => ({ ...email, ...Object.fromEntries(many(48_000, (at) => [`${at}`.padEnd(88, 'x'), 1])) }),
  },
  {
    name: 'HTML to text',
    callers: 4,
    path: batch,
    body: () => [...many(99, () => ({ from, to: email.to, subject: 'x', html: '<p>x'.repeat(3_990) })), invalid],
  },
  {
    name: 'addresses with spaces',
    callers: 2,
    path: batch,
    body: () => {
      const list = many(50, () => `a ${' '.repeat(190)}b <x@y.co>`)
      return [...many(90, () => ({ ...email, to: list, cc: list, bcc: list, reply_to: list })), invalid]
    },
  },
  {
    name: 'small batches of many recipients',
    callers: 100,
    path: '/emails/batch',
    body: (random) =>
      many(100, (at) => ({ ...email, to: many(10, (n) => `u${random.int(0, 1e9)}x${at}x${n}@example.com`) })),
  },
  {
    name: 'tiny attachments',
    callers: 4,
    path: '/emails/batch',
    body: (random) =>
      many(100, (at) => ({ ...email, attachments: many(20, (n) => attachment(random.int(0, 1e9) * 10 + at + n, 10)) })),
  },
  {
    name: 'attachments of 254 KB',
    callers: 4,
    path: '/emails/batch',
    body: (random) => many(60, () => ({ ...email, attachments: [attachment(random.int(0, 1e9), 254_000)] })),
  },
  { name: 'parallel emails', callers: 1_500, times: 1, path: '/emails', body: () => email },
  {
    name: 'links for many recipients',
    callers: 2,
    path: '/emails/batch',
    body: (random) =>
      many(20, (at) => ({
        ...email,
        to: many(50, (n) => `l${random.int(0, 1e9)}x${at}x${n}@example.com`),
        html: repeat(1_000, (n) => `<a href="https://x.example/${n}">${n}</a>`),
      })),
  },
  {
    name: 'a headers object of 24,000 entries',
    callers: 4,
    path: '/emails',
    body: () => ({
      ...email,
      headers: Object.fromEntries(many(24_000, (at) => [`X-${at}`.padEnd(80, 'x'), 'y'.repeat(70)])),
    }),
  },
  {
    name: 'members',
    callers: 60,
    path: '/contacts/add-group-members',
    body: (random, group) => ({
      group_id: group,
      members: many(150, () => ({ email: `m${random.int(0, 1e9)}@example.com` })),
    }),
  },
  {
    name: 'members in 60 bodies of 16 MB',
    callers: 60,
    times: 1,
    path: '/contacts/add-group-members',
    body: (_random, group) => ({ group_id: group, members: [], x: 'x'.repeat(15_900_000) }),
  },
]

const apiRows: HostileInput<Victim>[] = loads.map(({ name, callers, times = 3, path = '/emails', body }) => ({
  name: `availability: ${name}`,
  fire: async (victim, random, scale) => {
    const group = await victim.attacker.manage('POST', '/organization/groups', {
      name: `Readers ${random.int(0, 1e9)}`,
    })
    const text = JSON.stringify(body(random, group.body.data.id))
    return repeated(callers * scale, times, () => post(victim, path, text))
  },
}))

/** Emails by SMTP, which arrive at the same time. */
function submitted(name: string, connections: number, raw: string): HostileInput<Victim> {
  return {
    name: `availability: ${name}`,
    fire: (victim, _random, scale) =>
      repeated(connections * scale, 2, async () => {
        const code = await converse(victim.submissionPort, [
          ...signIn(victim),
          `MAIL FROM:<${from}>\r\n`,
          `RCPT TO:<${email.to}>\r\n`,
          'DATA\r\n',
          `${raw}\r\n.\r\n`,
        ])
        // A permanent rejection, which is not a fault of the service.
        return code >= 500 ? 422 : code
      }),
  }
}

const signIn = ({ attacker }: Victim) => [
  'EHLO x\r\n',
  `AUTH PLAIN ${Buffer.from(`\0x\0${attacker.apiKey}`).toString('base64')}\r\n`,
]

const head = `From: ${from}\r\n`
const printed = (kind: string, text: string) =>
  `--b\r\nContent-Type: text/${kind}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${text}\r\n`
const multipart = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n`

const smtpRows = [
  submitted(
    'quoted-printable',
    4,
    `${multipart}${printed('plain', '='.repeat(500_000))}${printed('html', '='.repeat(500_000))}--b--`,
  ),
  submitted('delimiters', 2, `${multipart}${'\r\n--'.repeat(5_000_000)}`),
  submitted(
    'encoded control headers',
    4,
    `${head}X-Waxwing-Flow: flw_1\r\nX-Waxwing-Context: ${'=?utf-8?q?=20?=\r\n '.repeat(7_000)}{}\r\n\r\nx`,
  ),
  submitted('dot-stuffed header lines', 10, `${head}${'..x: y\r\n'.repeat(14_000)}\r\nx`),
]

/** Another organization sends an email, and it arrives at the mail server of the installation. */
async function bystanderArrives(victim: Victim): Promise<number[]> {
  const to = `arrives${performance.now().toString().replace('.', '')}@bystander.example`
  const startedAt = performance.now()
  const sent = await victim.postAsBystander('/emails', { ...email, to })
  await until('the email of the other organization', () => victim.hasArrived(to), withinMs)
  victim.note('email of the other organization', Math.round(performance.now() - startedAt), leavesWithinMs)
  return [sent]
}

const stallRows: HostileInput<Victim>[] = [
  {
    name: 'availability: aborted event streams',
    fire: async (victim, _random, scale) => {
      const headers = { ...asProgram(victim), accept: 'application/x-ndjson' }
      for (let at = 0; at < 20 * scale; at++)
        await new Promise<void>((resolve) => {
          const sent = request(`${victim.url}/public/api/v1/events?wait=20`, { headers }, () => sent.destroy())
          sent.on('error', () => {}).once('close', resolve)
          sent.setTimeout(1_000, () => sent.destroy())
          sent.end()
        })
      return bystanderArrives(victim)
    },
  },
  {
    name: 'availability: connections that stall in DATA',
    fire: async (victim, _random, scale) => {
      const organizations = await Promise.all(
        many(3, (at) => newCustomer(victim.url, `Stalled ${at} ${Math.round(performance.now())}`)),
      )
      const clients = await Promise.all(
        many(60 * scale, async (at) => {
          const client = await dialSmtp(victim.submissionPort)
          const { apiKey } = organizations[at % organizations.length]!
          for (const line of [
            'EHLO x',
            `AUTH PLAIN ${Buffer.from(`\0x\0${apiKey}`).toString('base64')}`,
            `MAIL FROM:<${from}>`,
            `RCPT TO:<${email.to}>`,
            'DATA',
          ])
            await client.say(line)
          client.write(`${head}\r\nslow`)
          return client
        }),
      )
      const key = Buffer.from(`\0x\0${victim.bystander.apiKey}`).toString('base64')
      const code = await converse(victim.submissionPort, [
        'EHLO x\r\n',
        `AUTH PLAIN ${key}\r\n`,
        `MAIL FROM:<${from}>\r\n`,
        `RCPT TO:<${email.to}>\r\n`,
        'DATA\r\n',
        `${head}\r\nx\r\n.\r\n`,
      ])
      victim.note(`SMTP of the other organization: ${code}`, code === 250 ? 0 : 1, 0)
      const answers = await bystanderArrives(victim)
      for (const client of clients) client.socket.destroy()
      return answers
    },
  },
  {
    name: 'availability: ten organizations with silent mail servers',
    fire: async (victim, _random, scale) => {
      await using silent = await startRawSmtp({ answer: ({ verb }) => (verb === 'end' ? hang : undefined) })
      for (let at = 0; at < 10; at++) {
        const customer = await newCustomer(victim.url, `Silent ${at} ${Math.round(performance.now())}`)
        await addMailServer(customer, { url: silent.url, kinds: ['transactional', 'marketing'] })
        const attacker = { ...victim, attacker: { ...victim.attacker, ...customer } }
        await repeated(20, 10 * scale, () => post(attacker, '/emails', JSON.stringify(email)))
      }
      return bystanderArrives(victim)
    },
  },
  {
    name: 'availability: hostile replies',
    fire: async (victim, _random, scale) => {
      const reply = many(100, () => `550-${'user '.repeat(16)}`).join('\r\n')
      await using rude = await startRawSmtp({
        answer: ({ verb }) => (verb === 'RCPT' ? `${reply}\r\n550 user` : undefined),
      })
      const customer = await newCustomer(victim.url, `Rude ${Math.round(performance.now())}`)
      await addMailServer(customer, { url: rude.url, kinds: ['transactional', 'marketing'] })
      const attacker = { ...victim, attacker: { ...victim.attacker, ...customer } }
      const emails = many(20, (at) => ({ ...email, to: many(50, (n) => `r${at}x${n}@example.com`) }))
      const answers = await repeated(3 * scale, 1, () => post(attacker, '/emails/batch', JSON.stringify(emails)))
      return [...answers, ...(await bystanderArrives(victim))]
    },
  },
]

/** An image of the largest size, which takes seconds to read. */
const largeImage = () =>
  sharp({ create: { width: 6_300, height: 6_300, channels: 3, background: 'red' } })
    .toColourspace('rgb16')
    .png({ progressive: true })
    .toBuffer()

const imageRow: HostileInput<Victim> = {
  name: 'availability: large images of two organizations',
  fire: async (victim) => {
    const body = await largeImage()
    const other = await newCustomer(victim.url, `Images ${Math.round(performance.now())}`)
    const uploads = [victim.attacker, other].flatMap((customer) =>
      many(2, () => {
        const headers = { authorization: `Bearer ${customer.session}`, 'content-type': 'image/png' }
        return status(victim, { path: '/api/v1/organization/images', headers, body })
      }),
    )
    const flow = { name: 'Hello', kind: 'transactional', subject: 'Hello', html: '<p>Hello</p>' }
    const startedAt = performance.now()
    const created = await victim.bystander.manage('POST', '/organization/flows', flow)
    victim.note('creating a flow of the other organization', Math.round(performance.now() - startedAt), leavesWithinMs)
    return [created.status, ...(await Promise.all(uploads))]
  },
}

export const hostileAvailability: HostileInput<Victim>[] = [...apiRows, ...smtpRows, imageRow, ...stallRows]
