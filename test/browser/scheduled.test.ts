import { expect, test } from 'vitest'
import { orderFlow } from '../support/flows.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('a scheduled email shows its time and can be cancelled (phone)', async () => {
  const account = await registerOwner(service)
  const { manage } = service
  const flow = await manage(account.session, 'POST', '/organization/flows', orderFlow)
  const send_at = new Date(Date.now() + 3 * 24 * 60 * 60 * 1000).toISOString()
  const test = { to: 'ada@example.com', context: { order_id: 1042 }, send_at }
  const sent = await manage(account.session, 'POST', `/organization/flows/${flow.body.data.id}/test`, test)
  expect(sent.body.data.status).toBe('scheduled')

  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab
  await page.goto('messages?status=scheduled')
  const row = page.getByRole('row').filter({ hasText: 'Order 1042' })
  expect(await row.innerText()).toMatch(/Scheduled[\s\S]*for \w+ \d+, \d\d:\d\d/)
  await row.getByRole('link', { name: 'Order 1042 is on its way' }).click()
  await page.getByRole('status').filter({ hasText: 'This email will be sent on' }).waitFor()

  await page.getByRole('button', { name: 'Cancel email' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('ada@example.com').waitFor()
  await dialog.getByRole('button', { name: 'Cancel email' }).click()
  await page.getByText('Email cancelled. It won’t be sent.').waitFor()
  await page.getByText('Cancelled', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Cancel email' }).waitFor({ state: 'hidden' })
  const { body } = await manage(account.session, 'GET', `/organization/messages/${sent.body.data.message_id}`)
  expect(body.data.status).toBe('cancelled')
  expect(tab.problems).toEqual([])
})
