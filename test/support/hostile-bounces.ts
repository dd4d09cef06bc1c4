import { newId } from '../../src/values/ids.ts'
import { deliver } from './bounce-sender.ts'
import { type HostileInput, repeat } from './hostile-calls.ts'
import type { Victim } from './victim.ts'

const bounceAddress = (victim: Victim) =>
  `${victim.tokens.sign('bounce', { organizationId: victim.attacker.organizationId, messageId: newId('msg') })}@${victim.bounceDomain}`

async function bounce(victim: Victim, mail: (to: string) => string): Promise<number[]> {
  const to = bounceAddress(victim)
  const outcome = await deliver(victim.bouncePort, 'mailer-daemon@relay.example', to, mail(to))
  return [outcome.kind === 'accepted' ? 250 : 0]
}

const addresses = (count: number, seed: number) => repeat(count, (i) => `${i ? ', ' : ''}user${seed}x${i}@example.com`)

const notice = (to: string, headers: string, body: string) =>
  `From: MAILER-DAEMON@relay.example\r\nTo: ${to}\r\nSubject: Undelivered Mail Returned to Sender\r\n${headers}\r\n${body}\r\n`

export const hostileBounces: HostileInput[] = [
  {
    name: 'bounce with many failed recipients',
    fire: (victim, random, scale) =>
      bounce(victim, (to) =>
        notice(
          to,
          `X-Failed-Recipients: ${addresses(1_500 * scale, random.int(0, 999))}\r\n`,
          '550 5.1.1 No such user',
        ),
      ),
  },
  {
    name: 'bounce notice naming many recipients',
    fire: (victim, random, scale) =>
      bounce(victim, (to) =>
        notice(
          to,
          'Content-Type: text/plain\r\n',
          repeat(
            1_000 * scale,
            (i) =>
              `<user${i}@example.com>: host mx.example.com said: ${random.pick(['550 5.1.1 unknown', '452 4.2.2 full', 'over quota'])}\r\n`,
          ),
        ),
      ),
  },
  {
    name: 'bounce with a long encoded header',
    fire: (victim, random, scale) =>
      bounce(victim, (to) =>
        notice(
          to,
          `${random.pick(['Return-Path', 'Subject', 'X-Failed-Recipients'])}: =?utf-8?q?${random.pick(['_', '=20', ' _']).repeat(40_000 * scale)}?=<\r\n`,
          'x',
        ),
      ),
  },
  {
    name: 'bounce of nested parts',
    fire: (victim, random, scale) =>
      bounce(victim, (to) => {
        const depth = random.int(50, 500) * scale
        return notice(
          to,
          'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b0\r\n',
          repeat(depth, (i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`),
        )
      }),
  },
]
