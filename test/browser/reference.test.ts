import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from './support/chromium.ts'
import { startService } from './support/service.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

test('the API reference works with a policy that forbids inline scripts', async () => {
  await using service = await startService()
  const page = await browser.newPage()
  const violations: string[] = []
  page.on('console', (message) => {
    if (/script-src|inline script/i.test(message.text())) violations.push(message.text())
  })
  await page.goto(`${service.url}docs/`)
  await page.getByRole('heading', { name: 'Waxwing', exact: true }).first().waitFor()
  await page.getByText('Public API').first().waitFor()
  expect(violations).toEqual([])
  await page.close()
})
