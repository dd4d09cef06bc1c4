import { expect, test } from 'vitest'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('the limits of a mailbox provider are changed and reset, and those of a domain are added', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('sending/mail-servers')
  await page.getByRole('link', { name: 'limits per mailbox provider' }).click()
  const table = page.getByRole('table', { name: 'Limits per mailbox provider' })
  const google = table.getByRole('row').filter({ hasText: 'gmail.com' })
  await google.getByText('Default').waitFor()
  const dialog = page.getByRole('dialog')
  await google.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Change limits' }).click()
  await dialog.getByLabel('Emails per second').fill('3.5')
  await dialog.getByLabel('Emails per day').fill('20000')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await google.getByText('20,000').waitFor()
  await google.getByText('Changed').waitFor()

  await page.getByRole('button', { name: 'Add limit' }).click()
  await dialog.getByLabel('Domain', { exact: true }).fill('nonsense')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('must be a listed site or a domain', { exact: false }).waitFor()
  await dialog.getByLabel('Domain', { exact: true }).fill('customer.example')
  await dialog.getByLabel('Emails per second').fill('1')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await table.getByRole('row').filter({ hasText: 'customer.example' }).getByText('Changed').waitFor()

  await google.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Reset' }).click()
  await dialog.getByRole('button', { name: 'Reset' }).click()
  await google.getByText('Default').waitFor()
  expect(tab.problems).toEqual([])
})
