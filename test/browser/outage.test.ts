import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from './support/chromium.ts'
import { goTo, openTab } from './support/pages.ts'
import { registerOwner, startService } from './support/service.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

test('a page that did not load in an outage is there when it is over, by the button', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()

  const endOutage = await beginOutage(page)
  await goTo(page, 'Overview')
  const failed = page.getByRole('alert').filter({ hasText: 'The service cannot be reached.' })
  await failed.waitFor()
  await failed.getByRole('button', { name: 'Try again' }).click()
  await failed.waitFor()

  await endOutage()
  await failed.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: /^Sent 0/ }).waitFor()
  // With its styles: the six figures stand in one row.
  const tiles = await page.getByRole('button', { name: /^(Sent|Unsubscribed) 0/ }).all()
  const tops = await Promise.all(tiles.map(async (tile) => (await tile.boundingBox())?.y))
  expect(tops.length).toBe(2)
  expect(tops[0]).toBe(tops[1])
})

test('a page that did not load in an outage is there when somebody goes to it again', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()

  const endOutage = await beginOutage(page)
  await goTo(page, 'Overview')
  await page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
  await goTo(page, 'Messages')
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await endOutage()
  await goTo(page, 'Overview')
  await page.getByRole('button', { name: /^Sent 0/ }).waitFor()
})

test('an answer that is not from the service is told in a sentence', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.route('**/organization/flows*', (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<!doctype html><title>Back soon</title>' }),
  )

  await page.goto('flows')
  await page.getByRole('alert').getByText('What answered was not the service').waitFor()
  expect(await page.getByText('Unexpected token').count()).toBe(0)
})

/** Nothing is answered until the outage is ended. */
async function beginOutage(page: Page): Promise<() => Promise<void>> {
  const everything = '**/*'
  await page.route(everything, (route) => route.abort())
  return () => page.unroute(everything)
}
