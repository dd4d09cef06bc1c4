import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { longTestMsMax } from '../support/time-limits.ts'
import { sharedBrowser } from './support/chromium.ts'
import { goTo, openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('a page whose script failed to load during an outage can be retried, and loads automatically afterwards', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()

  const endOutage = await beginOutage(page)
  await goTo(page, 'Overview')
  const failed = page.getByRole('alert').filter({ hasText: 'Waxwing can’t be reached.' })
  await failed.waitFor()
  const failedAgain = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/auth/state'))
  await failed.getByRole('button', { name: 'Try again' }).click()
  await failedAgain
  await failed.waitFor()

  await endOutage()
  await page.getByRole('button', { name: /^Sent 0/ }).waitFor()
  // The styles are loaded too: the six tiles are in one row.
  const tiles = await page.getByRole('button', { name: /^(Sent|Unsubscribed) 0/ }).all()
  const tops = await Promise.all(tiles.map(async (tile) => (await tile.boundingBox())?.y))
  expect(tops.length).toBe(2)
  expect(tops[0]).toBe(tops[1])
})

test('a page that failed to load during an outage loads when it is visited again', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()

  const endOutage = await beginOutage(page)
  await goTo(page, 'Overview')
  await page.getByRole('alert').getByText('Waxwing can’t be reached.').waitFor()
  await goTo(page, 'Messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await endOutage()
  await goTo(page, 'Overview')
  await page.getByRole('button', { name: /^Sent 0/ }).waitFor()
})

test('a page whose data failed to load while the server was restarted loads automatically afterwards', {
  timeout: longTestMsMax.intervals,
}, async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/contacts', { email: 'ada@example.com' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('contacts')
  await page.getByRole('link', { name: 'ada@example.com' }).waitFor()

  const endOutage = await beginOutage(page)
  await page.getByLabel('Search contacts').fill('ada')
  await page.getByRole('alert').getByText('Waxwing can’t be reached.').waitFor()
  await endOutage()
  // A proxy responds before the server does.
  await page.route('**/organization/contacts?*', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
  await page.getByRole('alert').getByText('possibly from a proxy').or(page.getByText('status 502')).first().waitFor()
  await page.unroute('**/organization/contacts?*')
  await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('a response from something else than Waxwing is explained', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.route('**/organization/flows*', (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<!doctype html><title>Back soon</title>' }),
  )

  await page.goto('flows')
  await page.getByRole('alert').getByText('Received an unexpected response').waitFor()
  expect(await page.getByText('Unexpected token').count()).toBe(0)
})

test('a browser that goes offline shows it, fails immediately and recovers when the network is back', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account, isSeparate: true })
  const { page, context } = tab
  await page.goto('messages')
  const main = page.getByRole('main')
  await main.getByText('Live', { exact: true }).waitFor()
  // Loads the script of the page, so that only its data is missing offline.
  await goTo(page, 'Contacts')
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
  await goTo(page, 'Messages')
  await main.getByText('Live', { exact: true }).waitFor()

  await context.setOffline(true)
  await page.getByRole('status').getByText('You’re offline.').waitFor()
  await main.getByText('Offline', { exact: true }).waitFor()
  expect(await main.getByText('Live', { exact: true }).count()).toBe(0)
  await goTo(page, 'Contacts')
  await page.getByLabel('Search contacts').fill('somebody else')
  await page.getByRole('alert').getByText('You’re offline. Check your internet connection').waitFor()
  expect(await page.getByRole('status', { name: 'Loading' }).count()).toBe(0)

  await context.setOffline(false)
  await page.getByRole('heading', { name: 'No contacts found' }).waitFor()
  expect(await page.getByText('You’re offline.').count()).toBe(0)
})

test('an action that failed offline and was cancelled is not carried out later', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account, isSeparate: true })
  const { page, context } = tab
  await page.goto('contacts')
  await page.getByRole('button', { name: 'Add contact' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Add contact' })
  await dialog.getByLabel('Email').fill('ada@example.com')

  await context.setOffline(true)
  await dialog.getByRole('button', { name: 'Add contact' }).click()
  await dialog.getByRole('alert').getByText('You’re offline.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })

  const posted: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') posted.push(request.url())
  })
  await context.setOffline(false)
  // A paused action would be resumed as soon as the network is back, before the requests of the next page.
  await goTo(page, 'Messages')
  await page.getByRole('heading', { name: 'No emails yet' }).waitFor()
  expect(posted).toEqual([])
  const contacts = await service.manage(account.session, 'GET', '/organization/contacts')
  expect(contacts.body.data).toEqual([])
})

/** Aborts every request until the returned function is called. */
async function beginOutage(page: Page): Promise<() => Promise<void>> {
  const everything = '**/*'
  await page.route(everything, (route) => route.abort())
  return () => page.unroute(everything)
}
