import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { target: string[] }[] }

/** What keeps people from using the page as it stands now: each as the rule and the first place that breaks it. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(source)
  // Mail in a frame is its author's; the frame itself is ours.
  const violations = (await page.evaluate(
    `axe.run(document, { iframes: false, resultTypes: ['violations'] }).then((result) => result.violations)`,
  )) as Violation[]
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(' ')}`)
}
