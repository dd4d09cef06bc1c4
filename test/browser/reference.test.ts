import { expect, test } from 'vitest'
import { barriers, colorRules } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('the API reference works with a policy that forbids inline scripts, and links to the app and the guides', async () => {
  await using tab = await openTab(browser, service)
  const { page } = tab
  const violations: string[] = []
  page.on('console', (message) => {
    if (/script-src|inline script/i.test(message.text())) violations.push(message.text())
  })
  await page.goto('docs/')
  await page.getByRole('heading', { name: 'Waxwing API', exact: true }).first().waitFor()
  await page.getByText('Public API').first().waitFor()
  await page.getByText('Webhook events').first().waitFor()
  await page.getByText('Create an API key in the web app under Developers').waitFor()
  await page.getByPlaceholder('Your API key').first().waitFor()
  expect(violations).toEqual([])

  const links = page.getByRole('navigation', { name: 'Waxwing' })
  await links.getByRole('link', { name: 'Guides' }).click()
  await page.waitForURL(`${service.url}docs/guides/`)
  await page.goBack()
  await links.getByRole('link', { name: 'Open the app' }).click()
  await page.waitForURL((url) => !url.pathname.includes('/docs'))
  await page.getByRole('heading').first().waitFor()
})

test.each([
  ['desktop', 'light'],
  ['desktop', 'dark'],
  ['phone', 'light'],
] as const)('the API reference has no accessibility barriers (%s, %s)', async (size, theme) => {
  await using tab = await openTab(browser, service, { size, theme })
  const { page } = tab
  await page.goto('docs/')
  await page.getByRole('heading', { name: 'Waxwing API', exact: true }).first().waitFor()
  await page.getByLabel('Name', { exact: true }).first().waitFor()
  // The content is the same in both themes.
  const rules = theme === 'dark' ? colorRules : undefined
  // Texts appear gradually, and have their color at the end.
  await expect.poll(() => barriers(page, rules)).toEqual([])
  // The operations are rendered when they are scrolled to.
  const copyButtons = page.getByRole('button', { name: 'Copy', exact: true })
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 1_000)
      return copyButtons.count()
    })
    .toBeGreaterThan(0)
  await expect.poll(() => barriers(page, rules)).toEqual([])
})
