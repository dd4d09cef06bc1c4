import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from './support/chromium.ts'
import { goTo, openTab } from './support/pages.ts'
import { type Account, registerOwner, type Service, startService } from './support/service.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

test('the search field follows the address of the page', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await addContacts(service, account, ['p17@example.com', 'p18@example.com'])
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const field = page.getByLabel('Search contacts')

  await page.goto('contacts?query=p17')
  await page.getByRole('link', { name: 'p17@example.com' }).waitFor()
  expect(await field.inputValue()).toBe('p17')
  expect(await page.getByRole('link', { name: 'p18@example.com' }).count()).toBe(0)
  await goTo(page, 'Contacts')
  await page.getByRole('link', { name: 'p18@example.com' }).waitFor()
  expect(await field.inputValue()).toBe('')

  await field.fill('p18 ')
  await page.waitForURL('**/contacts?query=p18')
  await page.getByRole('link', { name: 'p17@example.com' }).waitFor({ state: 'hidden' })
  expect(await field.inputValue()).toBe('p18 ')
})

test('a search that is cleared at once does not come back', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await addContacts(service, account, ['p17@example.com', 'p18@example.com'])
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.clock.install()

  await page.goto('contacts')
  await page.getByRole('link', { name: 'p18@example.com' }).waitFor()
  // The clock stands still, so that no pause in typing is long enough to ask.
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.getByLabel('Search contacts').fill('p17')
  await page.getByRole('button', { name: 'Clear search' }).click()
  await page.clock.runFor(2_000)
  await page.clock.resume()
  expect(new URL(page.url()).search).toBe('')
  expect(await page.getByLabel('Search contacts').inputValue()).toBe('')
})

async function addContacts(service: Service, account: Account, emails: string[]): Promise<void> {
  for (const email of emails) await service.manage(account.session, 'POST', '/organization/contacts', { email })
}
