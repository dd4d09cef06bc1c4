import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { broadcastEventNames, contactChangeNames, eventNames } from '../../src/platform/values/event-types.ts'
import { happen } from '../support/events.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { sharedBrowser } from './support/chromium.ts'
import { chooseAction, hold, openTab, segment } from './support/pages.ts'
import { type Account, registerOwner, type Service, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('one switch selects all email events, another all of broadcasts, and the secret is shown once with verification code', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('developers/webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  await page.getByLabel('Name').fill('Orders')
  await page.getByLabel('URL').fill('ftp://example.com')
  await page.getByLabel('emailOpen').check()
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await expect.poll(() => page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')

  await page.getByLabel('URL').fill('https://example.com/hooks')
  await page.getByLabel('All email events').check()
  for (const name of eventNames) expect(await page.getByLabel(name).isChecked()).toBe(true)
  // Changes of contacts have to be selected.
  for (const name of [...contactChangeNames, ...broadcastEventNames])
    expect(await page.getByLabel(name).isChecked()).toBe(false)
  await page.getByLabel('Select all broadcasts events').check()
  for (const name of broadcastEventNames) expect(await page.getByLabel(name).isChecked()).toBe(true)
  for (const name of contactChangeNames) expect(await page.getByLabel(name).isChecked()).toBe(false)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  expect(await page.getByRole('figure', { name: 'signing secret' }).textContent()).toMatch(/^whsec_/)
  for (const language of ['Python', 'Go', 'PHP', 'TypeScript']) {
    await page.getByRole('tab', { name: language, exact: true }).click()
    await page.getByRole('figure', { name: `${language} verification code` }).waitFor()
  }
  await page.getByRole('button', { name: 'I’ve copied it' }).click()

  await page.getByRole('link', { name: 'Orders' }).click()
  await page.getByText('All email events, broadcastStarted, broadcastFinished').waitFor()
  expect(await page.content()).not.toContain('whsec_')
  expect(tab.problems).toEqual([])
})

test('a test event shows its attempt, and a failed delivery is replayed from its page (phone)', async () => {
  const account = await registerOwner(service)
  let status = 410
  await using receiver = await startReceiver((response) => response.writeHead(status).end(), { plain: true })
  const id = await createWebhook(service, account, receiver.url())
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto(`developers/webhooks/${id}`)
  await sendTest(page, 'emailClick')
  const answer = page.getByRole('status').getByRole('article', { name: 'Attempt 1' })
  await answer.getByText('HTTP 410', { exact: true }).waitFor()
  await page.getByText('X-Service-Signature').waitFor()
  await page.getByText('webhook-signature').waitFor()
  await page.keyboard.press('Escape')

  status = 200
  await segment(page, 'Status', 'Failed').click()
  await page.getByRole('link', { name: 'emailClick' }).first().click()
  await page.getByRole('heading', { name: 'Delivery of emailClick' }).waitFor()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('HTTP 200', { exact: true }).waitFor()
  await page.getByText('Delivered', { exact: true }).first().waitFor()
  expect(new Set(receiver.posts.map(({ body }) => body.toString())).size).toBe(1)
  expect(tab.problems).toEqual([])
})

test('the facts of a webhook change together with its deliveries', async () => {
  const account = await registerOwner(service)
  let status = 200
  await using receiver = await startReceiver((response) => response.writeHead(status).end(), { plain: true })
  const id = await createWebhook(service, account, receiver.url())
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`developers/webhooks/${id}`)
  await page.getByText('No events yet').waitFor()
  await happen(service.db, await organizationIdOf(account), 'emailOpen')
  await page.getByRole('cell', { name: 'Delivered', exact: true }).waitFor()
  await page.getByText('Healthy', { exact: true }).waitFor()
  await page.getByText('100% of 1', { exact: true }).waitFor()
  // Failed attempts count in the success rate.
  status = 500
  await happen(service.db, await organizationIdOf(account), 'emailOpen')
  await page.getByText(/^Failing since /).waitFor()
  await page.getByText('50% of 2', { exact: true }).waitFor()
})

test('all failed deliveries are replayed at once', async () => {
  const account = await registerOwner(service)
  let status = 410
  await using receiver = await startReceiver((response) => response.writeHead(status).end(), { plain: true })
  const id = await createWebhook(service, account, receiver.url())
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await happen(service.db, await organizationIdOf(account), 'emailOpen')
  await page.goto(`developers/webhooks/${id}`)
  // Test deliveries are not replayed.
  await sendTest(page, 'emailOpen')
  await page.getByText('HTTP 410', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await until('both to have failed', async () => {
    const { failing_since: since, stats_24h: stats } = (
      await service.manage(account.session, 'GET', `/organization/webhooks/${id}`)
    ).body.data
    return since !== null && stats.failed > 0 && stats.pending === 0
  })
  await page.getByText(/^Failing since \w+ \d+, \d\d:\d\d$/).waitFor()
  status = 200
  await page.getByRole('button', { name: 'Replay failed' }).click()
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText('1 delivery queued for replay.').waitFor()
  await until('the replay to arrive', () => receiver.posts.length === 3)
})

test('a webhook is paused, resumed, edited, given a new secret and deleted after confirmation', async () => {
  const account = await registerOwner(service)
  const id = await createWebhook(service, account, 'https://example.com/hooks')
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`developers/webhooks/${id}`)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('This webhook is paused').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('dialog', { name: 'Replay failed deliveries?' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('This webhook is paused').waitFor({ state: 'hidden' })

  await chooseAction(page, 'Edit')
  await page.getByLabel('Name').fill('Orders, renamed')
  await page.getByRole('radio', { name: 'Any 2xx' }).check()
  await page.getByRole('checkbox', { name: '429 Too Many Requests' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Orders, renamed' }).waitFor()
  await page.getByText('Any 2xx response', { exact: true }).waitFor()
  await page.getByText('also after 429').waitFor()

  await chooseAction(page, 'Rotate secret')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  expect(await page.getByRole('figure', { name: 'signing secret' }).textContent()).toMatch(/^whsec_/)
  await page.getByRole('button', { name: 'I’ve copied it' }).click()
  const end = page.getByText('Old secret expires').locator('xpath=following-sibling::dd')
  expect(await end.textContent()).toMatch(/^\w+ \d+, \d\d:\d\d$/)

  await chooseAction(page, 'Delete')
  await page.getByRole('dialog', { name: 'Delete webhook' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Orders, renamed' }).waitFor()
  await chooseAction(page, 'Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  expect(tab.problems).toEqual([])
})

test('a form with several errors shows each at its field (phone)', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto('developers/webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add webhook' })
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  const name = dialog.getByLabel('Name')
  const url = dialog.getByLabel('URL')
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  expect(await url.getAttribute('aria-invalid')).toBe('true')
  await dialog.getByText('Name is required.').waitFor()
  await dialog.getByText('URL is required.').waitFor()
  await dialog.getByText('Select at least one event type.').waitFor()

  await name.fill('Orders')
  await url.fill('example.com/hooks')
  await dialog.getByText('Enter a full URL, like https://example.com/webhooks.').waitFor()
  expect(await dialog.getByText('is required.').count()).toBe(0)
  await url.fill('https://example.com/hooks')
  await dialog.getByLabel('emailOpen').check()
  await dialog.getByText('Select at least one event').waitFor({ state: 'hidden' })
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByRole('figure', { name: 'signing secret' }).waitFor()
  expect(tab.problems).toEqual([])
})

test('the dialog with a new secret closes only by its confirmation button', async () => {
  const account = await registerOwner(service)
  const id = await createWebhook(service, account, 'https://example.com/hooks')
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`developers/webhooks/${id}`)
  await chooseAction(page, 'Rotate secret')
  const dialog = page.getByRole('dialog', { name: 'Rotate signing secret' })
  await dialog.getByRole('button', { name: 'Rotate secret' }).click()
  const secret = page.getByRole('figure', { name: 'signing secret' })
  await secret.waitFor()
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await page.getByRole('tab', { name: 'Go', exact: true }).click()
  expect(await secret.textContent()).toMatch(/^whsec_/)
  expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0)

  await page.getByRole('button', { name: 'I’ve copied it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await chooseAction(page, 'Rotate secret')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
})

test('a secret created while its dialog is being closed is still shown', async () => {
  const account = await registerOwner(service)
  const id = await createWebhook(service, account, 'https://example.com/hooks')
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const goOn = await hold(page, '**/rotate-secret')

  await page.goto(`developers/webhooks/${id}`)
  await chooseAction(page, 'Rotate secret')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  await page.keyboard.press('Escape')
  await goOn()
  await page.getByRole('figure', { name: 'signing secret' }).waitFor()
})

async function organizationIdOf({ session }: Account): Promise<string> {
  return (await service.manage(session, 'GET', '/me')).body.data.organization.id
}

async function createWebhook(service: Service, account: Account, url: string): Promise<string> {
  const created = await service.manage(account.session, 'POST', '/organization/webhooks', {
    name: 'Orders',
    url,
    all_events: true,
  })
  return created.body.data.id
}

async function sendTest(page: Page, eventName: string): Promise<void> {
  await page.getByRole('button', { name: 'Send test event' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send test event' })
  await dialog.getByRole('combobox', { name: 'Event' }).click()
  await page.getByRole('option', { name: eventName }).click()
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
}
