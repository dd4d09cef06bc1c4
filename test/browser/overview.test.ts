import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from './support/chromium.ts'
import { openTab, segment } from './support/pages.ts'
import { registerOwner, startService } from './support/service.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

test('a custom range can be chosen again and again', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  for (const [from, to] of [
    ['2024-01-01', '2024-01-10'],
    ['2024-02-01', '2024-02-05'],
  ] as const) {
    await segment(page, 'Range', 'Custom').click()
    await page.getByLabel('From').fill(from)
    await page.getByRole('dialog').getByLabel(/^To/).fill(to)
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText(`${from} to ${to}`).waitFor()
    await page.getByLabel('From').waitFor({ state: 'hidden' })
  }
  // The keyboard opens it too, and closes it.
  await page.getByRole('radio', { name: 'Custom' }).press('Space')
  await page.getByLabel('From').waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('From').waitFor({ state: 'hidden' })
  expect(tab.problems).toEqual([])
})
