import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { sharedBrowser } from './support/chromium.ts'
import { hold, openTab, sizes } from './support/pages.ts'
import { type Account, registerOwner, type Service, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('closing a dialog returns the focus to its opener', async () => {
  const account = await registerOwner(service)
  await manage(service, account, '/contacts', { email: 'ada@example.com' })
  await manage(service, account, '/groups', { name: 'Customers' })
  const webhook = await manage(service, account, '/webhooks', {
    name: 'Orders',
    url: 'https://example.com/hooks',
    all_events: true,
  })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  for (const [path, opener, item] of [
    ['contacts', 'Add contact'],
    ['contacts/groups', 'Create group'],
    ['contacts/groups', 'Actions for Customers', 'Rename'],
    ['contacts/groups', 'Actions for Customers', 'Delete'],
    ['developers/webhooks', 'Add webhook'],
    [`developers/webhooks/${webhook}`, 'More actions', 'Edit'],
    [`developers/webhooks/${webhook}`, 'More actions', 'Rotate secret'],
    [`developers/webhooks/${webhook}`, 'More actions', 'Delete'],
    ['developers/api-keys', 'Create key'],
    ['contacts/suppressions', 'Add addresses'],
    ['settings/team', 'Invite'],
    ['settings/team', 'Account', 'Change password'],
  ] as const) {
    await page.goto(path)
    const button = page.getByRole('button', { name: new RegExp(`^${opener}`) })
    await button.focus()
    await page.keyboard.press('Enter')
    if (item) {
      await page.getByRole('menuitem', { name: item }).focus()
      await page.keyboard.press('Enter')
    }
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await expect.poll(() => dialog.locator(':focus').count()).toBe(1)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await expect.poll(() => focused(page), { message: `${opener} ${item ?? ''}` }).toMatch(new RegExp(`^${opener}`))
  }
})

test('confirming a copied secret returns the focus to the button that created it', async () => {
  const account = await registerOwner(service)
  await manage(service, account, '/api-keys', { name: 'Shop', scopes: ['flows:send'] })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('developers/api-keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name').fill('Till')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'I’ve copied it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await expect.poll(() => focused(page)).toBe('Create key')
})

test('if the opener of a dialog is gone, the focus moves to the main content', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('developers/webhooks')
  const opener = page.getByRole('button', { name: 'Add webhook' })
  const button = (await opener.elementHandle())!
  await opener.click()
  await page.getByLabel('Name').fill('Orders')
  await page.getByLabel('URL').fill('https://example.com/hooks')
  await page.getByLabel('All email events').check()
  await page.getByRole('button', { name: 'Create webhook' }).click()
  // The list with the new webhook replaces the empty page and its button.
  await expect.poll(() => button.evaluate((element) => element.isConnected)).toBe(false)
  await page.getByRole('button', { name: 'I’ve copied it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
})

test('a loading button keeps the focus, and a double press sends one request', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  let sent = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/organization/contacts')) sent++
  })

  await page.goto('contacts')
  await page.getByRole('button', { name: 'Add contact' }).first().click()
  await page.getByLabel('Email').fill('nobody')
  const goOn = await hold(page, '**/api/v1/organization/contacts')
  const add = page.getByRole('dialog').getByRole('button', { name: 'Add contact' })
  await add.focus()
  await add.evaluate((button) => {
    button.click()
    button.click()
  })
  await expect.poll(() => add.getAttribute('data-loading')).toBe('true')
  await page.keyboard.press('Enter')
  expect(await focused(page)).toBe('Add contact')
  await goOn()
  await expect.poll(() => page.getByLabel('Email').getAttribute('aria-invalid')).toBe('true')
  expect(await focused(page)).toBe('Add contact')
  expect(sent).toBe(1)
})

test('“Show more” moves the focus to the first new row', async () => {
  const account = await registerOwner(service)
  for (let i = 0; i < 60; i++) await manage(service, account, '/contacts', { email: `person${i}@example.com` })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts')
  const rows = page.getByRole('table', { name: 'Contacts' }).locator('tbody tr')
  await rows.first().waitFor()
  const shown = await rows.count()
  await page.getByRole('button', { name: 'Show more' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => rows.count()).toBe(60)
  await expect.poll(() => focused(page)).toBe(await rows.nth(shown).getByRole('link').textContent())
})

test.each(sizes)('the first Tab on a page reaches the skip link (%s)', async (size) => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { size, account })
  const { page } = tab

  for (const path of ['contacts/imports', 'settings/organization']) {
    await page.goto(path)
    const here = page.getByRole('main').locator('nav [aria-current=page]')
    await here.waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    const place = await here.boundingBox()
    expect((place?.x ?? 0) + (place?.width ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
  }
})

const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')

async function manage(service: Service, account: Account, path: string, body: unknown): Promise<string> {
  return (await service.manage(account.session, 'POST', `/organization${path}`, body)).body.data.id
}
