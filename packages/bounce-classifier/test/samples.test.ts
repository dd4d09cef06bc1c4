import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { longTestMsMax } from '../../../test/support/time-limits.ts'
import {
  documentedEntries,
  entriesOnlyIn,
  evaluate,
  findRuleMatches,
  type LabelledMail,
  readLabelledMails,
  type Score,
  splitByFamily,
} from '../eval/evaluate.ts'
import type { RuleEntry } from '../src/rule-usage.ts'
import { deliveryStatus, feedback, mail, notice, ourAddress } from './build-email.ts'

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

const samples = async () => (existsSync(folder) ? readLabelledMails(folder) : ownSamples)

// Guards against regressions, close to the figures in the README.
test('at least 99 % of all verdicts are right, with few wrongly hard and few hard missed', async () => {
  expectAccurate([await evaluate([...ownSamples, ...(await samples())])], {
    rightMin: 0.99,
    wronglyHardMax: 0.005,
    missedMax: 0.02,
  })
})

type Mode = { name: string; disabled: (only: Set<RuleEntry>) => Set<RuleEntry>; bounds: Bounds; boundsOfOwn: Bounds }

// Half of the few mails above loses most of its rules, so that the bounds without the real mails are wider.
const modes: Mode[] = [
  {
    name: 'with all rules',
    disabled: () => new Set(),
    bounds: { rightMin: 0.985, wronglyHardMax: 0.007, missedMax: 0.03 },
    boundsOfOwn: { rightMin: 1, wronglyHardMax: 0, missedMax: 0 },
  },
  {
    name: 'without the rules that neither documentation nor the other half teaches',
    disabled: (only) => new Set([...only].filter((entry) => !documentedEntries.has(entry))),
    bounds: { rightMin: 0.96, wronglyHardMax: 0.007, missedMax: 0.04 },
    boundsOfOwn: { rightMin: 0.75, wronglyHardMax: 0, missedMax: 0.5 },
  },
  {
    name: 'without the rules that the other half does not teach',
    disabled: (only) => only,
    bounds: { rightMin: 0.94, wronglyHardMax: 0.007, missedMax: 0.12 },
    boundsOfOwn: { rightMin: 0.75, wronglyHardMax: 0, missedMax: 0.5 },
  },
]

test.each(modes)(
  'held-out halves by sender software are accurate $name',
  async ({ disabled, bounds, boundsOfOwn }) => {
    const mails = await samples()
    const matches = await findRuleMatches(mails)
    const scores: Score[] = []
    for (const seed of seeds) {
      const [, heldOut] = splitByFamily(mails, seed)
      scores.push(await evaluate(heldOut, disabled(entriesOnlyIn(heldOut, matches))))
    }
    expectAccurate(scores, existsSync(folder) ? bounds : boundsOfOwn)
  },
  longTestMsMax.evaluation,
)

test('phrases of documentation are known as such', () => {
  expect(documentedEntries.has('unrouteable')).toBe(true)
  expect(documentedEntries.has('unbekannt')).toBe(false)
})

test('a recipient that differs by a few characters counts if the mail has one verdict', async () => {
  const raw = failed('ada.lovelace@mail.example.com', '5.1.1', '550 5.1.1 user unknown')
  const expected = { recipient: 'ada.lovelace@mail.example.org', kind: 'hard' }
  expect(await evaluate([sample('one-1', raw, expected)])).toMatchObject({ right: 1, wronglyHard: 0 })
  const two = [expected, { recipient: 'bob@example.com', kind: 'soft' }]
  expect(await evaluate([sample('one-1', raw, ...two)])).toMatchObject({ right: 0, wronglyHard: 1 })
})

test('only rules that match nothing but held-out mails are disabled', async () => {
  const report = (reply: string) => notice(`<ada@example.com>:\nRemote host said: ${reply}\n`)
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
