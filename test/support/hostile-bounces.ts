import { newId } from '../../src/platform/values/ids.ts'
import { deliver } from './bounce-sender.ts'
import { type HostileInput, repeat } from './hostile-calls.ts'
import type { Seeded } from './seeded.ts'
import type { Victim } from './victim.ts'

export const bounceAddress = (victim: Victim) =>
  `${victim.tokens.sign('bounce', { organizationId: victim.attacker.organizationId, messageId: newId('msg') })}@${victim.bounceDomain}`

async function bounce(victim: Victim, mail: (to: string) => string): Promise<number> {
  const to = bounceAddress(victim)
  const outcome = await deliver(victim.bouncePort, 'mailer-daemon@relay.example', to, mail(to))
  return outcome.kind === 'accepted' ? 250 : 0
}

const addresses = (count: number, seed: number) => repeat(count, (i) => `${i ? ', ' : ''}user${seed}x${i}@example.com`)

const notice = (to: string, headers: string, body: string) =>
  `From: MAILER-DAEMON@relay.example\r\nTo: ${to}\r\nSubject: Undelivered Mail Returned to Sender\r\n${headers}\r\n${body}\r\n`

const manyFailedRecipients = (to: string, random: Seeded, scale: number) =>
  notice(to, `X-Failed-Recipients: ${addresses(1_500 * scale, random.int(0, 999))}\r\n`, '550 5.1.1 No such user')

const manyNamedRecipients = (to: string, random: Seeded, scale: number) =>
  notice(
    to,
    'Content-Type: text/plain\r\n',
    repeat(
      1_000 * scale,
      (i) =>
        `<user${i}@example.com>: host mx.example.com said: ${random.pick(['550 5.1.1 unknown', '452 4.2.2 full', 'over quota'])}\r\n`,
    ),
  )

const longEncodedHeader = (to: string, random: Seeded, scale: number) =>
  notice(
    to,
    `${random.pick(['Return-Path', 'Subject', 'X-Failed-Recipients'])}: =?utf-8?q?${random.pick(['_', '=20', ' _']).repeat(40_000 * scale)}?=<\r\n`,
    'x',
  )

const nestedParts = (to: string, random: Seeded, scale: number) =>
  notice(
    to,
    'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b0\r\n',
    repeat(random.int(50, 500) * scale, (i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`),
  )

export const hostileBounces: HostileInput[] = [
  {
    // Together, because each waits some seconds for the answer: the service looks for an unknown message again.
    name: 'bounces that take long to read',
    fire: (victim, random, scale) =>
      Promise.all(
        [manyFailedRecipients, manyNamedRecipients, longEncodedHeader, nestedParts].map((mail) =>
          bounce(victim, (to) => mail(to, random, scale)),
        ),
      ),
  },
]
