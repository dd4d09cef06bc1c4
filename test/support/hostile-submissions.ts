import { connect } from 'node:net'
import { openRelay } from '@waxwing/smtp-client'
import { dialSmtp } from './dial-smtp.ts'
import { type HostileInput, repeat } from './hostile-calls.ts'
import type { Seeded } from './seeded.ts'
import { until } from './until.ts'
import type { Victim } from './victim.ts'

const from = 'From: attacker@example.com\r\n'
const recipient = 'ada@example.com'
/** The largest header that is accepted. */
const headerLength = 128 * 1024 - 500

const filled = (text: string, length: number) => text.repeat(Math.floor(length / text.length))

/** Returns 250, or 422 for a permanent rejection, or the code of a temporary one. */
async function submit(victim: Victim, raws: readonly string[]): Promise<number[]> {
  const relay = openRelay(`smtp://x:${victim.attacker.apiKey}@127.0.0.1:${victim.submissionPort}?tls=off`)
  try {
    const outcomes = await Promise.all(
      raws.map((raw) => relay.send({ envelope: { from: 'attacker@example.com', to: recipient }, raw })),
    )
    return outcomes.map((outcome) =>
      outcome.kind === 'accepted' ? 250 : outcome.kind === 'refused' ? 422 : outcome.kind === 'deferred' ? 451 : 0,
    )
  } finally {
    await relay.close()
  }
}

const slowHeaders = (random: Seeded): string[] =>
  [
    `To: ${filled('a@b.cc,', headerLength)}`,
    `To: ${filled('a:', 8_000)}`,
    `Cc: ${filled('Ü <a@b.cc>,', headerLength)}`,
    `Subject: ${filled(random.pick(['=?utf-8?q?=C3=BC?= ', '=?utf-8?q?', 'Ü ']), headerLength)}`,
    filled('To: a:b;\r\n', 9_000).trimEnd(),
    `X-Waxwing-Flow: flw_1\r\nX-Waxwing-Context: ${'['.repeat(60_000)}`,
    `Content-Type: multipart/mixed${filled('; a="b', headerLength)}`,
  ].map((header) => `${from}${header}\r\n\r\nHello\r\n`)

const slowBodies = (random: Seeded, scale: number): string[] => {
  const head = `${from}X-Waxwing-Track: opens,clicks\r\n`
  const links = repeat(20_000 * scale, (at) => `<a href="http://x.example/${at}">\r\n`)
  const parts = repeat(20_000 * scale, () => '--b\r\nContent-Type: image/png\r\n\r\nx\r\n')
  const nested = repeat(5_000 * scale, (at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)
  return [
    `${head}Content-Type: text/html\r\n\r\n${links}`,
    `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`,
    `${head}${nested}Content-Type: text/html\r\n\r\n<p>x</p>\r\n`,
    `${head}Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${random.pick(['=', '= ', '=3D=\r\n']).repeat(100_000 * scale)}\r\n`,
    `${head}\r\n${'\r\n'.repeat(2_000_000 * scale)}`,
    `${head}\r\n${'x'.repeat(900_000)}\r\n`,
  ]
}

/** Connections that sign in or do not, begin an email, and then send a byte now and then, or nothing. */
async function idleConnections(victim: Victim, scale: number): Promise<number[]> {
  const port = victim.submissionPort
  const strangers = Array.from({ length: 400 * scale }, () => connect(port, '127.0.0.1').on('error', () => {}))
  const credentials = Buffer.from(`\0x\0${victim.attacker.apiKey}`).toString('base64')
  const begun = await Promise.all(
    Array.from({ length: 80 * scale }, async () => {
      const client = await dialSmtp(port)
      await client.say('EHLO x')
      await client.say(`AUTH PLAIN ${credentials}`)
      await client.say('MAIL FROM:<>')
      await client.say(`RCPT TO:<${recipient}>`)
      await client.say('DATA')
      client.write(`${from}\r\nslow`)
      return client
    }),
  )
  // The other tenant can sign in and send while they last.
  const { apiKey } = victim.bystander
  const own = { ...victim, attacker: { ...victim.attacker, apiKey } }
  const answers = await until('the other tenant to send', async () => {
    const given = await submit(own, [`${from}Subject: x\r\n\r\nHello\r\n`])
    return given[0] === 250 ? given : undefined
  })
  for (const client of begun) client.socket.destroy()
  for (const socket of strangers) socket.destroy()
  return answers
}

export const hostileSubmissions: HostileInput[] = [
  { name: 'submitted emails with slow headers', fire: (victim, random) => submit(victim, slowHeaders(random)) },
  {
    name: 'submitted emails with slow bodies',
    fire: (victim, random, scale) => submit(victim, slowBodies(random, scale)),
  },
  { name: 'submissions that never end', fire: (victim, _random, scale) => idleConnections(victim, scale) },
]
