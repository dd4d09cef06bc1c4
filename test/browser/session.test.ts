import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { sharedBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { goTo, hold, openTab } from './support/pages.ts'
import {
  type Account,
  expiredSession,
  registerOwner,
  type Service,
  startService,
  startSharedService,
} from './support/service.ts'

// A live list is fetched every three seconds.
const longerThanLiveMs = 4_000

const browser = await sharedBrowser()
const service = await startSharedService()

test('the first visitor creates the organization, and can sign out and in again', async () => {
  await using service = await startService()
  await using tab = await openTab(browser, service)
  const { page } = tab
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Berlin' })

  await page.goto('')
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await page.getByLabel('Organization name').fill('Acme')
  await page.getByLabel('Your email').fill('ada@acme.example')
  const password = page.getByLabel(/^Password/)
  await password.fill('correct horse battery')
  // The button that shows the password can be reached and pressed with the keyboard.
  await password.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => password.getAttribute('type')).toBe('text')
  const show = page.getByRole('button', { name: 'Show password' })
  expect(await show.evaluate((button) => button.matches(':focus'))).toBe(true)
  expect(await show.getAttribute('aria-pressed')).toBe('true')
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  const [organization] = await service.db<{ timezone: string }>`select timezone from organizations`
  expect(organization?.timezone).toBe('Europe/Berlin')

  await signOut(page)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()

  await page.getByLabel('Email').fill('ada@acme.example')
  await page.getByLabel(/^Password/).fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('The email address or password is incorrect.').waitFor()
  await page.getByRole('link', { name: 'Forgot your password?' }).waitFor()
  await page.getByLabel(/^Password/).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  expect(tab.problems).toEqual([])
})

test('registration errors are shown at their fields', async () => {
  await using tab = await openTab(browser, service)
  const { page } = tab

  await page.goto('register')
  await page.getByLabel('Organization name').fill('Acme')
  await page.getByLabel('Your email').fill('not-an-address@')
  await page.getByLabel(/^Password/).fill('short')
  await page.locator('form').evaluate((form) => form.setAttribute('novalidate', ''))
  await page.getByRole('button', { name: 'Create organization' }).click()

  await page.getByText(/must have at least 10 characters/i).waitFor()

  await page.getByLabel(/^Password/).fill('long enough for a password')
  await page.getByRole('button', { name: 'Create organization' }).click()
  const field = page.getByLabel('Your email')
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
})

test('an expired session is renewed in place without losing input (phone)', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto('developers/api-keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name').fill('Shop, production')
  const expired = await expiredSession(account)
  let isExpired = true
  await page.route('**/api/v1/organization/api-keys', (route) => {
    // The list is also fetched regularly.
    if (!isExpired || route.request().method() !== 'POST') return route.fallback()
    isExpired = false
    return route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${expired}` } })
  })
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()

  const renewal = page.getByRole('dialog', { name: 'Your session has expired' })
  await renewal.waitFor()
  expect(await renewal.getByLabel('Email').inputValue()).toBe(account.email)
  await renewal.getByLabel(/^Password/).fill('not the password')
  await renewal.getByRole('button', { name: 'Continue' }).click()
  await renewal.getByRole('alert').waitFor()
  await renewal.getByLabel(/^Password/).fill(account.password)
  await renewal.getByRole('button', { name: 'Continue' }).click()

  // The request that failed because of the expired session is sent again automatically.
  await page.getByRole('dialog', { name: 'Your new API key' }).waitFor()
  const keys = await service.manage(account.session, 'GET', '/organization/api-keys')
  expect(keys.body.data.map((key: { name: string }) => key.name)).toEqual(['Shop, production'])
})

test('signing in opens the page that was requested before', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service)
  const { page } = tab

  await page.goto('developers/api-keys')
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel(/^Password/).fill(account.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
  await goTo(page, 'Overview')
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
})

test('changing the password ends all other sessions but not the current one', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('developers/api-keys')
  await page
    .getByRole('button', { name: /^Account/ })
    .filter({ visible: true })
    .click()
  await page.getByRole('menuitem', { name: 'Change password' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change password' })
  await dialog.getByLabel('Current password').fill(account.password)
  await dialog.getByLabel('New password').fill('a new long password')
  await dialog.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed.').waitFor()

  expect((await service.manage(account.session, 'GET', '/me')).status).toBe(401)
  await goTo(page, 'Contacts')
  await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor()
  expect(await page.getByRole('dialog', { name: 'Your session has expired' }).count()).toBe(0)
  expect(tab.problems).toEqual([])
})

test('with registration closed, the page says so and shows no form', async () => {
  await using service = await startService()
  await registerOwner(service)
  await using tab = await openTab(browser, service)
  const { page } = tab

  await page.goto('register')
  await page.getByText('Registration is closed.').waitFor()
  expect(await page.getByRole('button', { name: 'Create organization' }).count()).toBe(0)
  expect(await page.getByText('You will be the owner').count()).toBe(0)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('after a sign-out in another tab, signing in again keeps unsaved changes', async () => {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page, context } = tab
  await page.goto(`flows/${id}/edit`)
  await page.getByLabel('Subject').fill('Half a thou')

  const other = await context.newPage()
  await other.goto('')
  await signOut(other)
  const renewal = page.getByRole('dialog', { name: 'You signed out in another tab' })
  await renewal.getByLabel(/^Password/).fill(account.password)
  await renewal.getByRole('button', { name: 'Continue' }).click()
  await renewal.waitFor({ state: 'hidden' })
  expect(await page.getByLabel('Subject').inputValue()).toBe('Half a thou')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('Unpublished changes', { exact: true }).waitFor()
  expect(tab.problems).toEqual([])
})

test('after a sign-out in another tab no more requests are sent with the old session', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page, context } = tab
  await page.goto('activity')
  await page.getByText('Live', { exact: true }).waitFor()

  const other = await context.newPage()
  await other.goto('')
  await signOut(other)
  await page.getByRole('dialog', { name: 'You signed out in another tab' }).waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.waitForTimeout(longerThanLiveMs)
  expect(asked.filter((url) => url.includes('/organization/'))).toEqual([])
})

test('after a sign-out in another tab, the next account sees no data of the previous one', async () => {
  const first = await registerOwner(service)
  const second = await registerOwner(service, 'Globex')
  await service.manage(first.session, 'POST', '/organization/contacts', { email: 'ada@example.com' })
  await using tab = await openTab(browser, service, { account: first })
  const { page, context } = tab
  await page.goto('contacts')
  await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
  await page.getByText('Acme').first().waitFor()
  await page.getByRole('button', { name: 'Add contact' }).first().click()
  await page.getByLabel('Email').fill('half@')

  const other = await context.newPage()
  await other.goto('')
  await signOut(other)
  await page.getByRole('dialog', { name: 'You signed out in another tab' }).waitFor()
  // Holds the responses to check the page before new data arrives.
  const goOn = await hold(page, '**/api/v1/{me,organization/**}')
  await signIn(other, second)
  await page.getByRole('dialog').first().waitFor({ state: 'hidden' })
  await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor()
  expect(await page.getByText(/Acme|ada@example.com/).count()).toBe(0)

  await goOn()
  await page.getByText('Globex').first().waitFor()
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
  expect(tab.problems).toEqual([])
})

test('unsaved changes neither block the next account nor are shown to it', async () => {
  const first = await registerOwner(service)
  const second = await registerOwner(service, 'Globex')
  const id = await createFlow(service, first)
  await using tab = await openTab(browser, service, { account: first, isSeparate: true })
  const { page, context } = tab
  await page.goto(`flows/${id}/edit`)
  await page.getByLabel('Subject').click()
  await page.keyboard.type('Half a thou')
  // The previous user may have chosen to stay on the page.
  page.on('dialog', (dialog) => dialog.dismiss())

  const other = await context.newPage()
  await other.goto('')
  await signOut(other)
  await page.getByRole('dialog', { name: 'You signed out in another tab' }).waitFor()
  await signIn(other, second)
  await page.getByText('Globex').first().waitFor()
  await page.getByText('Not found').waitFor()
  expect(await page.getByLabel('Subject').count()).toBe(0)
})

test('a signed-in user who joins another organization sees no data of the previous one', async () => {
  const first = await registerOwner(service)
  const second = await registerOwner(service, 'Globex')
  const invited = await invite(service, second, 'ada@globex.example')
  await using tab = await openTab(browser, service, { account: first })
  const { page } = tab
  await page.goto('')
  await page.getByText('Acme').first().waitFor()
  // Navigates within the app: a full page load would have no cached data to clear.
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(invited)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await page.getByLabel(/^Password/).fill('correct horse battery')
  await page.getByRole('button', { name: 'Join Globex' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await page.getByText('Globex').first().waitFor()
  expect(await page.getByText('Acme').count()).toBe(0)
})

async function invite(service: Service, account: Account, email: string): Promise<string> {
  const made = await service.manage(account.session, 'POST', '/organization/invitations', { email, role: 'owner' })
  return made.body.data.url
}

async function signIn(page: Page, account: Account): Promise<void> {
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel(/^Password/).fill(account.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function signOut(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /^Account/ })
    .filter({ visible: true })
    .click()
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
}
