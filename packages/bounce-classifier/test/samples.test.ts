import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  entriesOnlyIn,
  evaluate,
  findRuleMatches,
  type LabelledMail,
  readLabelledMails,
  type Score,
  splitByFamily,
} from '../src/evaluate.ts'
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

type Bounds = { rightMin: number; wronglyHardMax: number; missedMax: number }

function expectAccurate(scores: Score[], { rightMin, wronglyHardMax, missedMax }: Bounds): void {
  const verdicts = (score: Score) => score.verdicts
  expect(share(scores, ({ right }) => right, verdicts)).toBeGreaterThanOrEqual(rightMin)
  expect(share(scores, ({ wronglyHard }) => wronglyHard, verdicts)).toBeLessThanOrEqual(wronglyHardMax)
  expect(
    share(
      scores,
      ({ missedHard }) => missedHard,
      ({ hard }) => hard,
    ),
  ).toBeLessThanOrEqual(missedMax)
}

const samples = async () => [...ownSamples, ...(existsSync(folder) ? await readLabelledMails(folder) : [])]

// Guards against regressions. The README explains the bounds and the verdicts that deliberately differ from the collection.
test('at least 96 % of all verdicts are right, with few wrongly hard and few hard missed', async () => {
  expectAccurate([await evaluate(await samples())], { rightMin: 0.96, wronglyHardMax: 0.02, missedMax: 0.04 })
})

test('held-out halves by sender software stay accurate without the rules that only they could teach', async () => {
  const mails = await samples()
  const matches = await findRuleMatches(mails)
  const scores: Score[] = []
  for (const seed of seeds) {
    const [, heldOut] = splitByFamily(mails, seed)
    scores.push(await evaluate(heldOut, entriesOnlyIn(heldOut, matches)))
  }
  // A half of the few mails above loses most of its rules.
  const rightMin = existsSync(folder) ? 0.91 : 0.75
  expectAccurate(scores, { rightMin, wronglyHardMax: 0.03, missedMax: existsSync(folder) ? 0.15 : 0.5 })
}, 120_000)

test('only rules that match nothing but held-out mails are disabled', async () => {
  const report = (diagnostic: string) => failed('ada@example.com', '5.0.0', diagnostic)
  const shared = sample('one-1', report('550 user unknown'))
  const heldOut = sample('two-1', report('550 user unknown, benutzer unbekannt'), {
    recipient: 'ada@example.com',
    kind: 'hard',
  })
  const only = entriesOnlyIn([heldOut], await findRuleMatches([shared, heldOut]))
  expect([...only]).toEqual(['unbekannt'])
  expect((await evaluate([heldOut], only)).right).toBe(1)
  const foreign = sample('two-2', report('550 benutzer unbekannt'), { recipient: 'ada@example.com', kind: 'hard' })
  expect((await evaluate([foreign], only)).missedHard).toBe(1)
})

test('a verdict for another recipient is not right, and a hard one counts as wrongly hard', async () => {
  const raw = failed('bob@example.com', '5.1.1', '550 5.1.1 user unknown')
  const score = await evaluate([sample('one-1', raw, { recipient: 'ada@example.com', kind: 'hard' })])
  expect(score).toMatchObject({ right: 0, missedHard: 1, wronglyHard: 1 })
  expect(await evaluate([sample('one-1', raw, { recipient: null, kind: 'hard' })])).toMatchObject({ right: 1 })
})

test('a split keeps the mails of one family together and uses every mail once', () => {
  const named = ['exim-01', 'exim-02', 'qmail-01', 'qmail-02', 'arf-01', 'arf-02'].map((name) => sample(name, ''))
  const [one, other] = splitByFamily(named, 7)
  const families = (half: LabelledMail[]) => new Set(half.map(({ name }) => name.replace(/-.*/, '')))
  expect([...families(one)].filter((family) => families(other).has(family))).toEqual([])
  expect([...one, ...other].map(({ name }) => name).sort()).toEqual(named.map(({ name }) => name).sort())
})
