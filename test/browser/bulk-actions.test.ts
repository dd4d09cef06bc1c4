import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { longTestMsMax } from '../support/time-limits.ts'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('contacts are selected, grouped, suppressed, exported and erased in bulk', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  const account = await registerOwner(service)
  const manage = (method: string, path: string, body?: object) =>
    service.manage(account.session, method, `/organization${path}`, body)
  await manage('POST', '/groups', { name: 'Customers' })
  for (let index = 0; index < 60; index++)
    await manage('POST', '/contacts', { email: `reader${String(index).padStart(2, '0')}@example.com` })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name, exact: true }).click()
  }

  await page.goto('contacts?sort=email')
  await page.getByText('60 contacts', { exact: true }).waitFor()
  const links = page.getByRole('table', { name: 'Contacts' }).getByRole('link')
  expect(await links.first().textContent()).toBe('reader00@example.com')
  await page.getByRole('checkbox', { name: 'Select all contacts on this page' }).check()
  await page.getByText('50 contacts selected').waitFor()
  await page.getByRole('button', { name: 'Select all 60 contacts' }).click()
  await page.getByText('60 contacts selected').waitFor()
  expect(await barriers(page)).toEqual([])
  await act('Add to group')
  await page.getByRole('dialog').getByRole('combobox', { name: 'Group' }).click()
  await page.getByRole('option', { name: 'Customers' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Add to group' }).click()
  await page.getByText('60 contacts added to the group.').waitFor()

  await page.getByLabel('Select reader00@example.com').check()
  await page.getByLabel('Select reader01@example.com').check()
  await act('Suppress')
  await page.getByRole('dialog').getByRole('button', { name: 'Suppress' }).click()
  await page.getByText('2 contacts suppressed.').waitFor()
  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Suppressed' }).click()
  await page.getByText('2 contacts', { exact: true }).waitFor()
  await expect.poll(() => links.count()).toBe(2)

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toBe('contacts.csv')
  const lines = (await readFile((await download.path())!, 'utf8')).trim().split('\r\n')
  expect(lines.map((line) => line.split(',')[1])).toEqual(['email', 'reader00@example.com', 'reader01@example.com'])

  await page.getByRole('checkbox', { name: 'Select all contacts on this page' }).check()
  await act('Erase')
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Type “erase” to confirm').fill('erase')
  await dialog.getByRole('button', { name: 'Erase' }).click()
  await page.getByText('2 contacts erased.').waitFor()
  await page.getByText('No contacts found').waitFor()
  expect((await manage('GET', '/contacts/count')).body.data.count).toBe(58)
  expect(tab.problems).toEqual([])
})
