import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { longTestMsMax } from '../support/time-limits.ts'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { chooseAction, openTab } from './support/pages.ts'
import { organizationApi, registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

/** The preview is of the draft, for a chosen recipient and context. */
async function readPreview(page: Page): Promise<void> {
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('Hello there', { exact: true }).waitFor()
  await preview.getByLabel('Recipient').fill('grace')
  await page.getByRole('option', { name: /Grace Hopper/ }).click()
  await preview.getByText('Hello Grace', { exact: true }).waitFor()
  await page.getByLabel('name', { exact: true }).fill('Ada')
  await page.frameLocator('iframe').getByText('Hello Ada').waitFor()
}

async function sendTest(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send test email', exact: true }).click()
  const testing = page.getByRole('dialog', { name: 'Send test email' })
  await testing.getByText('Sends your unpublished changes').waitFor()
  await testing.getByRole('button', { name: 'Send test email' }).click()
  await testing.getByRole('status').getByRole('link', { name: 'View delivery' }).waitFor()
  await testing.getByRole('button', { name: 'Close' }).last().click()
  await testing.waitFor({ state: 'hidden' })
}

async function discardDraft(page: Page): Promise<void> {
  const unpublished = page.getByText('Unpublished changes', { exact: true })
  const publishing = page.getByRole('dialog', { name: 'Publish changes' })
  // The dialog lists what to correct, and leads to the place in the template.
  await page.getByLabel('Subject').fill('Never mind '.repeat(8))
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await publishing.getByText('1 suggestion').waitFor()
  await publishing.getByRole('button', { name: 'Subject' }).click()
  await publishing.waitFor({ state: 'hidden' })
  await expect.poll(() => page.evaluate('document.activeElement.value')).toContain('Never mind')
  await unpublished.waitFor()
  await chooseAction(page, 'Discard draft')
  const discarding = page.getByRole('dialog', { name: 'Discard draft?' })
  await discarding.getByRole('button', { name: 'Discard draft' }).click()
  await unpublished.waitFor({ state: 'hidden' })
  await expect.poll(() => page.getByLabel('Subject').inputValue()).toContain('Hello {{')
}

test('a change is saved as a draft, previewed, tested, published, discarded and duplicated', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const id = await createFlow(service, account)
  await manage('POST', '/contacts', { email: 'grace@example.com', first_name: 'Grace', last_name: 'Hopper' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const unpublished = page.getByText('Unpublished changes', { exact: true })

  await page.goto(`flows/${id}/edit`)
  await page.getByLabel('Subject').fill('Hello {{ contact.first_name | default: "there" }}')
  await page.keyboard.press('Control+s')
  await unpublished.waitFor()
  expect(await manage('GET', `/flows/${id}`)).toMatchObject({ subject: 'Your order', version: 1 })
  await page.goto('flows')
  await page
    .getByRole('row', { name: /Order confirmation/ })
    .getByText('Unpublished changes')
    .waitFor()

  await page.goto(`flows/${id}/edit`)
  await readPreview(page)

  await sendTest(page)
  expect(await manage('GET', '/messages')).toMatchObject([{ subject: '[Test] Hello there', is_test: true }])

  await button('Publish').click()
  const publishing = page.getByRole('dialog', { name: 'Publish changes' })
  await publishing.getByText(/Subject changed from/).waitFor()
  expect(await barriers(page)).toEqual([])
  await publishing.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('Version 2', { exact: true }).waitFor()
  await unpublished.waitFor({ state: 'hidden' })
  expect(await manage('GET', `/flows/${id}`)).toMatchObject({ version: 2, draft: null, status: 'active' })

  await discardDraft(page)

  await chooseAction(page, 'Pause')
  const pausing = page.getByRole('dialog', { name: 'Pause flow?' })
  await pausing.getByText('will be rejected until you activate it again').waitFor()
  expect(await manage('GET', `/flows/${id}`)).toMatchObject({ status: 'active' })
  await pausing.getByRole('button', { name: 'Pause flow' }).click()
  await page.getByText('Paused', { exact: true }).waitFor()

  await chooseAction(page, 'Duplicate')
  await page.getByRole('heading', { name: 'Copy of Order confirmation' }).waitFor()
  await page.getByText('Draft', { exact: true }).waitFor()
  expect((await manage('GET', '/flows?status=draft'))[0]).toMatchObject({ name: 'Copy of Order confirmation' })
  // There is nothing yet that it would change.
  await button('Publish').click()
  await page.getByRole('dialog', { name: 'Publish flow' }).getByText('goes live').waitFor()
  expect(tab.problems).toEqual([])
})
