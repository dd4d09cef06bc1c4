#!/usr/bin/env node
import { classifyFiles } from './classify-files.ts'
import { entriesOnlyIn, evaluate, findRuleMatches, readLabelledMails, type Score, splitByFamily } from './evaluate.ts'

const usage = `Usage: classify-bounce FILE…
       classify-bounce --evaluate FOLDER

Prints one line of JSON per file, or compares the verdicts with FOLDER/expected.json for the mails in FOLDER/emails.
`
const seeds = [1, 2, 3, 4, 5]

async function printVerdicts(files: string[]): Promise<void> {
  const warn = (line: string) => {
    process.exitCode = 1
    process.stderr.write(`${line}\n`)
  }
  for await (const line of classifyFiles(files, warn)) process.stdout.write(`${line}\n`)
}

/**
 * Scores the whole folder and one half of five splits by sender software: first with all rules, which is too optimistic, then
 * without the rules that only the held-out half could have taught, which is too pessimistic.
 */
async function printEvaluation(folder: string): Promise<void> {
  const mails = await readLabelledMails(folder)
  const whole = await evaluate(mails)
  print('all mails', whole)
  const matches = await findRuleMatches(mails)
  const plain: Score[] = []
  const pessimistic: Score[] = []
  for (const seed of seeds) {
    const [, heldOut] = splitByFamily(mails, seed)
    const unlearnable = entriesOnlyIn(heldOut, matches)
    plain.push(await evaluate(heldOut))
    pessimistic.push(await evaluate(heldOut, unlearnable))
    print(`held-out half, seed ${seed}, all rules`, plain.at(-1)!)
    print(`held-out half, seed ${seed}, without ${unlearnable.size} rules`, pessimistic.at(-1)!)
  }
  printMean('mean, all rules (upper bound)', plain)
  printMean('mean, without unlearnable rules (lower bound)', pessimistic)
  printConfusion('all mails', [whole])
  printConfusion('held-out halves, all rules', plain)
  printConfusion('held-out halves, without unlearnable rules', pessimistic)
  process.stdout.write('\nwrong verdicts, all mails\n')
  for (const wrong of whole.wrong) process.stdout.write(`${JSON.stringify(wrong)}\n`)
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

const [first, folder] = process.argv.slice(2)
if (first === '--evaluate' && folder) await printEvaluation(folder)
else if (first && !first.startsWith('--')) await printVerdicts(process.argv.slice(2))
else {
  process.stderr.write(usage)
  process.exitCode = first === '--help' ? 0 : 2
}
