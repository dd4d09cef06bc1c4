import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { target: string[] }[] }

/** The rules whose result depends on colors. */
export const colorRules = ['color-contrast', 'link-in-text-block']

/** Like `barriers`. In the dark theme, only the rules about colors are checked, because the content is the same. */
export async function barriersInBothThemes(page: Page): Promise<string[]> {
  const found = await barriers(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  // Colors that change slowly would be measured too early.
  await page.evaluate(`Promise.all(
    document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished.catch(() => {})),
  )`)
  const dark = await barriers(page, colorRules)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...found, ...dark.map((problem) => `in the dark theme, ${problem}`)]
}

/** Returns the serious accessibility violations of the page, each as the rule and the first element that breaks it. */
export async function barriers(page: Page, onlyRules?: string[]): Promise<string[]> {
  if (!(await page.evaluate('globalThis.axe !== undefined'))) await page.evaluate(source)
  // Emails in frames are not part of the app. A violation has the impact of its rule, so rules of a lower one are not run.
  const violations = (await page.evaluate(`
    axe.run(document, {
      iframes: false,
      resultTypes: ['violations'],
      ...(${JSON.stringify(onlyRules ?? null)} && { runOnly: ${JSON.stringify(onlyRules ?? [])} }),
      rules: {
        ...Object.fromEntries(
          axe._audit.rules
            .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
            .map(({ id }) => [id, { enabled: false }]),
        ),
        // Of WCAG 2.2, and not run by default: what is pressed has at least 24 pixels, or space around it.
        'target-size': { enabled: true },
      },
    }).then((result) => result.violations)`)) as Violation[]
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(' ')}`)
}
