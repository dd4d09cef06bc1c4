import { verifyWebhook } from '@waxwing/sdk'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { longTestMsMax } from '../support/time-limits.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { sharedBrowser } from './support/chromium.ts'
import { goTo, openTab } from './support/pages.ts'
import { startService } from './support/service.ts'

const browser = await sharedBrowser()

test('the checklist leads from an empty database to a webhook that a receiver has verified (phone)', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  await using service = await startService()
  await using receiver = await startReceiver((response) => response.writeHead(200).end(), { plain: true })
  await using tab = await openTab(browser, service, { size: 'phone' })
  const { page } = tab

  await register(page)
  await page.getByRole('button', { name: 'Send it' }).click()
  await stepDone(page, 'Send yourself a first email')

  await goTo(page, 'Inbox')
  await page.getByText('Emails aren’t being sent yet').waitFor()
  await openWelcome(page)
  await goTo(page, 'Overview')
  await stepDone(page, 'Open it in the inbox')

  await clickWelcome(page)
  await goTo(page, 'Overview')
  await stepDone(page, 'Click the link in it')

  await page.getByRole('main').getByRole('link', { name: 'API keys', exact: true }).click()
  await createApiKey(page)
  await goTo(page, 'Overview')
  await stepDone(page, 'Create an API key')

  await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
  const secret = await createWebhook(page, receiver.url())
  await goTo(page, 'Overview')
  await stepDone(page, 'Add a webhook')

  // From now on, clicks are delivered to the receiver and pass the verification of the SDK.
  await clickWelcome(page)
  const delivery = await until('the click to reach the receiver', () =>
    receiver.posts.find((candidate) => candidate.headers['x-service-event'] === 'emailClick'),
  )
  const event = verifyWebhook(delivery.body, delivery.headers, secret)
  expect(event).toMatchObject({ event_name: 'emailClick', data: { contact: { email: 'ada@acme.example' } } })
  expect(tab.problems).toEqual([])
})

async function register(page: Page): Promise<void> {
  await page.goto('')
  await page.getByLabel('Organization name').fill('Acme')
  await page.getByLabel('Your email').fill('ada@acme.example')
  await page.getByLabel(/^Password/).fill('correct horse battery')
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByRole('region', { name: 'Get started' }).waitFor()
}

const stepDone = (page: Page, step: string) =>
  page.getByRole('listitem').filter({ hasText: step }).getByRole('img', { name: 'Done' }).waitFor()

async function openWelcome(page: Page): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Emails' })
    .getByRole('link', { name: /Welcome/ })
    .first()
    .click()
  await page.getByTitle(/^Email: Welcome/).waitFor()
}

/** Clicks the link in the email like a recipient; it opens in a new tab. */
async function clickWelcome(page: Page): Promise<void> {
  await goTo(page, 'Inbox')
  await openWelcome(page)
  const opening = page.context().waitForEvent('page')
  await page.frameLocator('iframe').getByRole('link', { name: 'Read the API reference' }).click()
  const opened = await opening
  await opened.waitForURL('**/docs**')
  await opened.close()
}

async function createApiKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name').fill('Shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const key = await page.getByRole('figure', { name: 'API key', exact: true }).textContent()
  expect(key).toMatch(/^wxk_[A-Za-z0-9]{43}$/)
  await page.getByRole('button', { name: 'I’ve copied it' }).click()
}

async function createWebhook(page: Page, url: string): Promise<string> {
  await page.getByRole('button', { name: 'Add webhook' }).click()
  await page.getByLabel('Name').fill('Orders')
  await page.getByLabel('URL').fill(url)
  await page.getByLabel('All email events').check()
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const secret = await page.getByRole('figure', { name: 'signing secret' }).textContent()
  await page.getByRole('button', { name: 'I’ve copied it' }).click()
  return secret ?? ''
}
