import type { RuleEntry } from '../src/rule-usage.ts'
import {
  documentedEntries,
  entriesOnlyIn,
  evaluate,
  findRuleMatches,
  readLabelledMails,
  type Score,
  splitByFamily,
} from './evaluate.ts'

const seeds = [1, 2, 3, 4, 5]

/**
 * Scores the whole folder and one half of five splits by sender software: with all rules, which is too optimistic; without the
 * rules that neither documentation nor the other half could have taught; and without documented rules of that kind as well,
 * which is too pessimistic.
 */
async function printEvaluation(folder: string): Promise<void> {
  const mails = await readLabelledMails(folder)
  const whole = await evaluate(mails)
  print('all mails', whole)
  const matches = await findRuleMatches(mails)
  const modes: Mode[] = [
    { name: 'all rules', disabled: () => new Set() },
    {
      name: 'without unlearnable, undocumented rules',
      disabled: (only) => new Set([...only].filter((entry) => !documentedEntries.has(entry))),
    },
    { name: 'without unlearnable rules', disabled: (only) => only },
  ]
  const byMode: Score[][] = modes.map(() => [])
  for (const seed of seeds) {
    const [, heldOut] = splitByFamily(mails, seed)
    const only = entriesOnlyIn(heldOut, matches)
    for (const [index, { name, disabled }] of modes.entries()) {
      const score = await evaluate(heldOut, disabled(only))
      byMode[index]!.push(score)
      print(`held-out half, seed ${seed}, ${name}`, score)
    }
  }
  for (const [index, { name }] of modes.entries()) printMean(`mean of held-out halves, ${name}`, byMode[index]!)
  printConfusion('all mails', [whole])
  for (const [index, { name }] of modes.entries()) printConfusion(`held-out halves, ${name}`, byMode[index]!)
  printWrong('all mails', [whole])
  for (const [index, { name }] of modes.entries()) printWrong(`held-out halves, ${name}`, byMode[index]!)
}

/** Which rules are disabled for a held-out half, given those that match nothing but mails of that half. */
type Mode = { name: string; disabled: (only: ReadonlySet<RuleEntry>) => ReadonlySet<RuleEntry> }

/** Each wrong verdict once, even if it occurs in several scores. */
function printWrong(name: string, scores: readonly Score[]): void {
  process.stdout.write(`\nwrong verdicts, ${name}\n`)
  for (const line of new Set(scores.flatMap(({ wrong }) => wrong.map((one) => JSON.stringify(one))))) {
    process.stdout.write(`${line}\n`)
  }
}

function printMean(name: string, scores: readonly Score[]): void {
  const mean = (part: (score: Score) => number) => scores.reduce((sum, score) => sum + part(score), 0) / scores.length
  process.stdout.write(
    `${name}: ${percent(mean((score) => score.right / score.verdicts))} right, ` +
      `${percent(mean((score) => score.wronglyHard / score.verdicts))} wrongly hard, ` +
      `${percent(mean((score) => score.missedHard / Math.max(1, score.hard)))} of hard missed\n`,
  )
}

const kinds = ['hard', 'soft', 'complaint', 'none', 'missing']

/** Rows are expected kinds, columns the kinds found. The counts of several scores are added up. */
function printConfusion(name: string, scores: readonly Score[]): void {
  process.stdout.write(`\n${name}\n${['expected', ...kinds].map((title) => title.padEnd(10)).join('')}\n`)
  for (const expected of kinds.slice(0, -1)) {
    const counts = kinds.map((found) =>
      scores.reduce((sum, { confusion }) => sum + (confusion[expected]?.[found] ?? 0), 0).toString(),
    )
    process.stdout.write(`${[expected, ...counts].map((cell) => cell.padEnd(10)).join('')}\n`)
  }
}

function print(name: string, { verdicts, right, hard, missedHard, wronglyHard }: Score): void {
  process.stdout.write(
    `${name}: ${percent(right / verdicts)} of ${verdicts} right, ${wronglyHard} wrongly hard, ${missedHard} of ${hard} hard missed\n`,
  )
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

const folder = process.argv[2]
if (folder) await printEvaluation(folder)
else {
  process.stderr.write(
    'Usage: npm run evaluate -- FOLDER, with mails in FOLDER/emails and their verdicts in FOLDER/expected.json\n',
  )
  process.exitCode = 2
}
