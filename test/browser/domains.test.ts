import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type OtherRecords, startNameServer } from '../support/name-server.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { chooseAction, openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

type Published = OtherRecords & { addresses?: string[] }
const published = new Map<string, Published>()
const names = await startNameServer(
  (name) => (published.has(name) ? (published.get(name)!.addresses ?? []) : 'no such name'),
  (name) => published.get(name) ?? {},
)
const browser = await sharedBrowser()
const service = await startSharedService({ DNS_SERVERS: names.address, BASE_URL: '' })

/** Names that cannot be verified are rejected. */
async function addDomain(page: Page): Promise<void> {
  await page.goto('sending/domains')
  await page.getByRole('button', { name: 'Add domain' }).click()
  await page.getByLabel('Domain', { exact: true }).fill('not a domain')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Add domain' }).click()
  await dialog.getByText('must be a domain name such as example.com', { exact: false }).waitFor()
  // Those of mailbox providers cannot be verified.
  await page.getByLabel('Domain', { exact: true }).fill('gmail.com')
  await dialog.getByRole('button', { name: 'Add domain' }).click()
  await dialog.getByText('must be a domain of your own', { exact: false }).waitFor()
  await page.getByLabel('Domain', { exact: true }).fill('https://Shop.example.com/cafe')
  await dialog.getByRole('button', { name: 'Add domain' }).click()

  await page.getByRole('heading', { name: 'shop.example.com' }).waitFor()
  await page.getByText('Waiting for DNS').waitFor()
}

const recordsOf = (page: Page) => page.getByRole('table', { name: 'DNS records' }).getByRole('row')

/** Publishes the record that the page shows for a purpose. */
async function publish(page: Page, purpose: string): Promise<void> {
  const codes = await recordsOf(page).filter({ hasText: purpose }).last().getByRole('code').allTextContents()
  const [name, , value] = codes
  published.set(name!, purpose === 'Link host' ? { cname: value! } : { txt: [value!] })
}

async function verify(page: Page): Promise<void> {
  const rows = recordsOf(page)
  await publish(page, 'Ownership')
  await page.getByRole('button', { name: 'Check now' }).click()
  await rows.filter({ hasText: 'Ownership' }).getByText('Found').waitFor()
  await rows.filter({ hasText: 'DKIM' }).getByText('There is no DNS record with the name').waitFor()
  await publish(page, 'DKIM')
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('Verified', { exact: true }).first().waitFor()
}

/** The record of another provider is completed, not replaced. */
async function mergeSpf(page: Page): Promise<void> {
  const rows = recordsOf(page)
  published.set('shop.example.com', { txt: ['v=spf1 include:_spf.google.com -all'] })
  await page.reload()
  const spf = rows.filter({ hasText: 'SPF' })
  await spf.getByText('v=spf1 include:amazonses.com ~all', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Check now' }).click()
  await spf.getByText('The record does not contain include:amazonses.com.', { exact: false }).waitFor()
  await spf.getByText('Found: v=spf1 include:_spf.google.com -all').waitFor()
  await spf.getByText('v=spf1 include:_spf.google.com include:amazonses.com -all', { exact: true }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await publish(page, 'SPF')
  await page.getByRole('button', { name: 'Check now' }).click()
  await spf.getByText('Found', { exact: true }).waitFor()
}

async function renameLinkHost(page: Page): Promise<void> {
  const rows = recordsOf(page)
  const dialog = page.getByRole('dialog')
  await chooseAction(page, 'Change hosts')
  await dialog.getByLabel('Link host').fill('not.one')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('must be one part of a host name', { exact: false }).waitFor()
  await dialog.getByLabel('Link host').fill('go')
  await dialog.getByText('go.shop.example.com').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  const linkHost = rows.filter({ hasText: 'Link host' })
  await linkHost.getByText('go.shop.example.com').waitFor()
  published.set('go.shop.example.com', { addresses: ['192.0.2.1'] })
  await page.getByRole('button', { name: 'Check now' }).click()
  await linkHost.getByText('The name has other addresses than', { exact: false }).waitFor()
  published.delete('go.shop.example.com')
  await publish(page, 'Link host')
  await page.getByRole('button', { name: 'Check now' }).click()
  await linkHost.getByText('Found', { exact: true }).waitFor()
}

async function rotateKey(page: Page): Promise<void> {
  const rows = recordsOf(page)
  await chooseAction(page, 'Rotate key')
  await page.getByRole('button', { name: 'Make a new key' }).click()
  await page.getByText('The key is being rotated').waitFor()
  expect(await rows.filter({ hasText: 'DKIM' }).count()).toBe(2)
  await publish(page, 'DKIM')
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('The key is being rotated').waitFor({ state: 'hidden' })
}

async function warmUp(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Start warm-up' }).click()
  await dialog.getByLabel('Emails on the first').fill('20, many')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Enter whole numbers, separated by commas.').waitFor()
  await dialog.getByLabel('Emails on the first').fill('20, 40, 80')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('1 of 3 on which it sends').waitFor()
  await page.getByText('0 of 20').waitFor()
  const chart = page.getByRole('list', { name: 'Emails on each day' }).getByRole('listitem')
  expect(await chart.allTextContents()).toEqual(['20Day 1: 20', '40Day 2: 40', '80Day 3: 80'])
  await page.getByText(/^Ends on \w+ \d+, \d+ if the domain sends every day\./).waitFor()
  await page.getByRole('button', { name: 'End warm-up' }).click()
  await dialog.getByRole('button', { name: 'End warm-up' }).click()
  await page.getByRole('button', { name: 'Start warm-up' }).waitFor()
}

test('a domain is added, its records are published and found, its link host is renamed and its key rotated', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await addDomain(page)
  await verify(page)

  // Nothing is offered that only this machine can reach.
  const manage = (method: string, path: string, body: object) =>
    service.manage(account.session, method, `/organization${path}`, body)
  await page.getByText('SPF follows once your email leaves', { exact: false }).waitFor()
  await page.getByText('The link host follows once this installation has a public address.', { exact: false }).waitFor()
  expect(
    await recordsOf(page)
      .filter({ hasText: /localhost|Link host|SPF/ })
      .count(),
  ).toBe(0)
  await manage('PATCH', '/sending/setup', { base_url: 'https://wax.example.net' })
  await manage('POST', '/mail-servers', { name: 'SES', preset: 'amazon_ses', username: 'AKIA', password: 'p' })
  await mergeSpf(page)

  await renameLinkHost(page)

  await rotateKey(page)

  await warmUp(page)

  const [ownership] = await recordsOf(page).filter({ hasText: 'Ownership' }).getByRole('code').allTextContents()
  published.delete(ownership!)
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText(/before \w+ \d+, \d\d:\d\d\. Until then, emails are still signed/).waitFor()

  await chooseAction(page, 'Delete')
  await page.getByRole('button', { name: 'Delete domain' }).click()
  await page.getByText('No domains yet').waitFor()
  expect(tab.problems).toEqual([])
})
