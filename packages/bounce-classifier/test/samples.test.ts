import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { evaluate, type LabelledMail, readLabelledMails, type Score, splitByFamily } from '../src/evaluate.ts'
import { deliveryStatus, feedback, mail, notice, ourAddress } from './bounce-mails.ts'

// Real mails with verdicts may lie beside a checkout. The test passes without them.
const folder = fileURLToPath(new URL('../../../../shared/bounces', import.meta.url))
const seeds = [1, 2, 3, 4, 5]

const sample = (name: string, raw: string, ...expected: LabelledMail['expected']): LabelledMail => ({
  name,
  raw,
  expected,
})
const failed = (address: string, status: string, diagnostic: string) =>
  deliveryStatus(
    `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: ${status}\nDiagnostic-Code: smtp; ${diagnostic}`,
  )

const ownSamples: LabelledMail[] = [
  sample('postfix-1', failed('ada@example.com', '5.1.1', '550 5.1.1 unknown'), {
    recipient: 'ada@example.com',
    kind: 'hard',
  }),
  sample('exchange-1', failed('ada@example.com', '5.0.0', '550 5.7.1 spam'), {
    recipient: 'ada@example.com',
    kind: 'soft',
  }),
  sample('sendmail-1', failed('bob@example.org', '4.4.1', 'timed out'), { recipient: 'bob@example.org', kind: 'soft' }),
  sample('qmail-1', notice('<eve@example.net>: Host or domain name not found'), {
    recipient: 'eve@example.net',
    kind: 'hard',
  }),
  sample('arf-1', feedback('Feedback-Type: abuse\n'), { recipient: 'ada@example.com', kind: 'complaint' }),
  sample('person-1', mail({ From: 'ada@example.com', To: ourAddress, Subject: 'Thanks' }, 'It arrived.')),
]

const share = (scores: Score[], part: (score: Score) => number, of: (score: Score) => number) =>
  scores.reduce((sum, score) => sum + (of(score) === 0 ? 0 : part(score) / of(score)), 0) / scores.length

function expectAccurate(scores: Score[], rightMin: number): void {
  expect(
    share(
      scores,
      ({ right }) => right,
      ({ verdicts }) => verdicts,
    ),
  ).toBeGreaterThanOrEqual(rightMin)
  expect(
    share(
      scores,
      ({ wronglyHard }) => wronglyHard,
      ({ verdicts }) => verdicts,
    ),
  ).toBeLessThanOrEqual(0.007)
  expect(
    share(
      scores,
      ({ missedHard }) => missedHard,
      ({ hard }) => hard,
    ),
  ).toBeLessThanOrEqual(0.04)
}

const samples = async () => [...ownSamples, ...(existsSync(folder) ? await readLabelledMails(folder) : [])]

test('at least 99 % of all kinds are right, with few wrongly hard and few hard missed', async () => {
  expectAccurate([await evaluate(await samples())], 0.99)
})

test('on halves by sender software at least 96 % of kinds are right, on average of five splits', async () => {
  const mails = await samples()
  const scores = await Promise.all(seeds.map((seed) => evaluate(splitByFamily(mails, seed)[1])))
  expectAccurate(scores, 0.96)
})

test('a split keeps the mails of one family together and uses every mail once', () => {
  const named = ['exim-01', 'exim-02', 'qmail-01', 'qmail-02', 'arf-01', 'arf-02'].map((name) => sample(name, ''))
  const [one, other] = splitByFamily(named, 7)
  const families = (half: LabelledMail[]) => new Set(half.map(({ name }) => name.replace(/-.*/, '')))
  expect([...families(one)].filter((family) => families(other).has(family))).toEqual([])
  expect([...one, ...other].map(({ name }) => name).sort()).toEqual(named.map(({ name }) => name).sort())
})
