import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('a recipient unsubscribes through the link in an email, and the contact page shows it (phone)', async () => {
  const account = await registerOwner(service)
  const manage = (method: string, path: string, body?: unknown) =>
    service.manage(account.session, method, `/organization${path}`, body)
  const contact = await manage('POST', '/contacts', { email: 'ada@example.com', first_name: 'Ada' })
  const flow = await manage('POST', '/flows', {
    name: 'Newsletter',
    kind: 'marketing',
    subject: 'News',
    html: '<p>News!</p><p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>',
  })
  await manage('POST', `/flows/${flow.body.data.id}/send`, { contact_email: 'ada@example.com' })
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  const mail = await until('the email to arrive in the inbox', async () => (await manage('GET', '/inbox')).body.data[0])
  await page.goto(`inbox/${mail.id}`)
  const opening = page.context().waitForEvent('page')
  await page.frameLocator('iframe').getByRole('link', { name: 'Unsubscribe' }).first().click()
  const leaving = await opening
  await leaving.getByText('Acme').first().waitFor()
  await leaving.getByRole('button', { name: /unsubscribe/i }).click()
  await leaving
    .getByText(/unsubscribed/i)
    .first()
    .waitFor()

  await page.goto(`contacts/${contact.body.data.id}`)
  await page.getByText('Unsubscribed', { exact: true }).first().waitFor()
  expect(tab.problems).toEqual([])
})
