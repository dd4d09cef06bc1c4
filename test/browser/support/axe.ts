import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { target: string[] }[] }

/** Returns the serious accessibility violations of the page, each as the rule and the first element that breaks it. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(source)
  // Emails in frames are not part of the app. A violation has the impact of its rule, so rules of a lower one are not run.
  const violations = (await page.evaluate(`
    axe.run(document, {
      iframes: false,
      resultTypes: ['violations'],
      rules: Object.fromEntries(
        axe._audit.rules
          .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
          .map(({ id }) => [id, { enabled: false }]),
      ),
    }).then((result) => result.violations)`)) as Violation[]
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(' ')}`)
}
