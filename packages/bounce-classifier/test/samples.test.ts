import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { classifyBounce } from '../src/classify-bounce.ts'
import { deliveryStatus, feedback, mail, notice, ourAddress } from './bounce-mails.ts'

// Real mails with verdicts lie beside a checkout where somebody put them. Without them the bars hold for our own.
const folder = fileURLToPath(new URL('../../../../shared/bounces', import.meta.url))

type Verdict = { recipient: string | null; kind: string }
type Sample = { raw: Uint8Array | string; expected: Verdict[] }

const sample = (raw: string, ...expected: Verdict[]): Sample => ({ raw, expected })
const failed = (address: string, status: string, diagnostic: string) =>
  deliveryStatus(
    `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: smtp; ${diagnostic}`,
  )

const ownSamples: Sample[] = [
  sample(failed('ada@example.com', '5.1.1', '550 5.1.1 unknown'), { recipient: 'ada@example.com', kind: 'hard' }),
  sample(failed('ada@example.com', '5.0.0', '550 5.7.1 spam'), { recipient: 'ada@example.com', kind: 'soft' }),
  sample(failed('bob@example.org', '4.4.1', 'timed out'), { recipient: 'bob@example.org', kind: 'soft' }),
  sample(notice('<eve@example.net>: Host or domain name not found'), { recipient: 'eve@example.net', kind: 'hard' }),
  sample(feedback('Feedback-Type: abuse\n'), { recipient: 'ada@example.com', kind: 'complaint' }),
  sample(mail({ From: 'ada@example.com', To: ourAddress, Subject: 'Thanks' }, 'It arrived.')),
]

function sharedSamples(): Sample[] {
  if (!existsSync(folder)) return []
  const verdicts: Record<string, Verdict[]> = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))
  return Object.entries(verdicts).map(([file, expected]) => ({
    raw: readFileSync(join(folder, 'emails', file)),
    expected,
  }))
}

async function score(samples: readonly Sample[]) {
  const counted = { verdicts: 0, matching: 0, falselyHard: 0, nonBouncesTaken: 0 }
  for (const { raw, expected } of samples) {
    const { results } = await classifyBounce(raw)
    const isHard = expected.some(({ kind }) => kind === 'hard')
    if (expected.length === 0 && results.some(({ kind }) => kind !== 'none')) counted.nonBouncesTaken += 1
    for (const { recipient, kind } of expected) {
      counted.verdicts += 1
      if (results.some((result) => result.recipient === recipient && result.kind === kind)) counted.matching += 1
    }
    for (const result of results.filter(({ kind }) => kind === 'hard')) {
      const wanted = expected.find(({ recipient }) => recipient === result.recipient)
      if (wanted ? wanted.kind !== 'hard' : !isHard) counted.falselyHard += 1
    }
  }
  return counted
}

for (const [name, samples] of [
  ['our own samples', ownSamples],
  ['our own samples and the real mails that are there', [...ownSamples, ...sharedSamples()]],
] as const) {
  test(`on ${name}, 97 % of verdicts match, fewer than 0.5 % are falsely hard, and no other mail is taken for a bounce`, async () => {
    const { verdicts, matching, falselyHard, nonBouncesTaken } = await score(samples)
    expect(verdicts).toBeGreaterThan(0)
    expect(matching / verdicts).toBeGreaterThanOrEqual(0.97)
    expect(falselyHard / verdicts).toBeLessThan(0.005)
    expect(nonBouncesTaken).toBe(0)
  })
}
