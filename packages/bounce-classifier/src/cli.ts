#!/usr/bin/env node
import { classifyFiles } from './classify-files.ts'
import { evaluate, readLabelledMails, type Score, splitByFamily } from './evaluate.ts'

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

/** Scores the whole folder, and the second half of five splits by sender software. */
async function printEvaluation(folder: string): Promise<void> {
  const mails = await readLabelledMails(folder)
  const whole = await evaluate(mails)
  print('all mails', whole)
  const halves: Score[] = []
  for (const seed of seeds) {
    const half = await evaluate(splitByFamily(mails, seed)[1])
    print(`second half, seed ${seed}`, half)
    halves.push(half)
  }
  const mean = (part: (score: Score) => number) => halves.reduce((sum, half) => sum + part(half), 0) / halves.length
  process.stdout.write(
    `mean of the halves: ${percent(mean((half) => half.right / half.verdicts))} right, ` +
      `${percent(mean((half) => half.wronglyHard / half.verdicts))} wrongly hard, ` +
      `${percent(mean((half) => half.missedHard / Math.max(1, half.hard)))} of hard missed\n\n`,
  )
  for (const [expected, found] of Object.entries(whole.confusion)) {
    process.stdout.write(`expected ${expected}: ${JSON.stringify(found)}\n`)
  }
  for (const wrong of whole.wrong) process.stdout.write(`${JSON.stringify(wrong)}\n`)
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
