import { expect, test } from 'vitest'
import { type OtherRecords, startNameServer } from '../support/name-server.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const published = new Map<string, OtherRecords>()
const names = await startNameServer(
  (name) => (published.has(name) ? [] : 'no such name'),
  (name) => published.get(name) ?? {},
)
const browser = await sharedBrowser()
const service = await startSharedService({ DNS_SERVERS: names.address })

test('a domain is added, its records are published and found, and its key is rotated', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('settings/domains')
  await page.getByRole('button', { name: 'Add domain' }).click()
  await page.getByLabel('Domain', { exact: true }).fill('not a domain')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Add domain' }).click()
  await dialog.getByText('must be a domain name such as example.com', { exact: false }).waitFor()
  await page.getByLabel('Domain', { exact: true }).fill('shop.example.com')
  await dialog.getByRole('button', { name: 'Add domain' }).click()

  await page.getByRole('heading', { name: 'shop.example.com' }).waitFor()
  await page.getByText('Waiting for DNS').waitFor()
  const rows = page.getByRole('table', { name: 'DNS records' }).getByRole('row')
  const publish = async (purpose: string) => {
    const codes = await rows.filter({ hasText: purpose }).last().getByRole('code').allTextContents()
    const [name, , value] = codes
    published.set(name!, { txt: [value!] })
  }
  await publish('Ownership')
  await page.getByRole('button', { name: 'Check now' }).click()
  await rows.filter({ hasText: 'Ownership' }).getByText('Found').waitFor()
  await rows.filter({ hasText: 'DKIM' }).getByText('There is no DNS record with the name').waitFor()
  await publish('DKIM')
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('Verified', { exact: true }).first().waitFor()

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Rotate key' }).click()
  await page.getByRole('button', { name: 'Make a new key' }).click()
  await page.getByText('The key is being rotated').waitFor()
  expect(await rows.filter({ hasText: 'DKIM' }).count()).toBe(2)
  await publish('DKIM')
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('The key is being rotated').waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete domain' }).click()
  await page.getByText('No domains yet').waitFor()
  expect(tab.problems).toEqual([])
})
