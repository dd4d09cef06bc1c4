import { expect, test } from 'vitest'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { goTo, openTab, type TabOptions } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('the app leads to the guides, and the guides back to the app and to the API reference', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  await tab.page.goto('')
  const opened = tab.context.waitForEvent('page')
  await goTo(tab.page, 'Guides opens in a new tab')
  const guides = await opened
  await guides.getByRole('heading', { name: 'Waxwing guides' }).waitFor()
  await guides.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Quick start' }).click()
  await guides.getByRole('heading', { name: 'Quick start', level: 1 }).waitFor()
  expect(new URL(guides.url()).pathname).toBe('/docs/guides/quick-start')
  const reference = guides.getByRole('link', { name: 'API reference' })
  expect(new URL((await reference.getAttribute('href'))!, guides.url()).href).toBe(`${service.url}docs/`)
  await guides.getByRole('link', { name: 'Open the app' }).click()
  await guides.getByRole('navigation', { name: 'Main' }).waitFor()
})

test('the search finds sections by their words, with the keyboard alone', async () => {
  await using tab = await openTab(browser, service)
  const { page } = tab
  await page.goto('docs/guides/sending')
  await page.getByRole('heading', { name: 'Sending email', level: 1 }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('rotate secret')
  const results = page.locator('#results a')
  await results.first().waitFor()
  expect(await results.first().textContent()).toContain('Retries and replay › Rotate the secret')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/guides/retries#rotate-the-secret')

  await page.getByRole('searchbox').fill('retry')
  await results.filter({ hasText: 'Retries and replay' }).first().waitFor()
  await page.getByRole('searchbox').fill('zeppelin')
  await page.getByText('No results. Try fewer or shorter words.').waitFor()
  expect(tab.problems).toEqual([])
})

test.each<TabOptions>([
  { size: 'desktop', theme: 'light' },
  { size: 'phone', theme: 'dark' },
])('is readable and accessible: %o', async (options) => {
  await using tab = await openTab(browser, service, options)
  for (const guide of ['', 'verifying-webhooks', 'migrating']) {
    await tab.page.goto(`docs/guides/${guide}`)
    await tab.page.getByRole('heading', { level: 1 }).waitFor()
    expect([guide, await barriers(tab.page)]).toEqual([guide, []])
    const overflow = await tab.page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect([guide, overflow]).toEqual([guide, 0])
  }
  if (options.size === 'phone') {
    await tab.page.getByText('All guides').click()
    await tab.page.getByRole('link', { name: 'Metrics', exact: true }).click()
    await tab.page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor()
  }
  // The policy forbids inline scripts and styles.
  expect(tab.problems).toEqual([])
})
