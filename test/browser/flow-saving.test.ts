import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { barriers } from './support/axe.ts'
import { launchBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { openTab, type Tab } from './support/pages.ts'
import { registerOwner, startService } from './support/service.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

const staleMs = 60_000

test('an editor in which nothing was changed shows what a colleague has saved', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.clock.install()
  await page.goto(`flows/${flow.id}`)
  await subject(page).waitFor()
  await flow.change({ subject: 'Their subject' })
  await comeBack(page)
  await version(page, 2).waitFor()
  expect(await subject(page).inputValue()).toBe('Their subject')
  expect(await save(page).isDisabled()).toBe(true)
})

test('a change made from an older version is not saved over a newer one, until the person says so', async () => {
  await using flow = await openFlow()
  const { page } = flow
  const notice = page.getByRole('alert').filter({ hasText: 'Someone else saved version 2' })

  await page.goto(`flows/${flow.id}`)
  await subject(page).fill('My subject')
  await flow.change({ subject: 'Their subject' })
  await save(page).click()
  await notice.waitFor()
  expect(await barriers(page)).toEqual([])
  expect(await flow.read()).toMatchObject({ subject: 'Their subject', version: 2 })
  expect(await subject(page).inputValue()).toBe('My subject')

  await notice.getByRole('button', { name: 'Save mine anyway' }).click()
  await version(page, 3).waitFor()
  await notice.waitFor({ state: 'hidden' })
  expect(await flow.read()).toMatchObject({ subject: 'My subject', version: 3 })
  expect(flow.problems).toEqual([])
})

test('a change made from an older version can be given up for the newer one', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.clock.install()
  await page.goto(`flows/${flow.id}`)
  await subject(page).fill('My subject')
  await flow.change({ subject: 'Their subject', name: 'Their name' })
  await comeBack(page)
  await page.getByRole('button', { name: 'Discard mine and load version 2' }).click()
  await page.getByRole('alert').waitFor({ state: 'hidden' })
  expect(await subject(page).inputValue()).toBe('Their subject')
  expect(await save(page).isDisabled()).toBe(true)

  await subject(page).fill('My next subject')
  await save(page).click()
  await version(page, 3).waitFor()
  expect(await flow.read()).toMatchObject({ name: 'Their name', subject: 'My next subject', version: 3 })
})

test('a colleague’s new name stays when the text is saved', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.goto(`flows/${flow.id}`)
  await subject(page).fill('My subject')
  await flow.change({ name: 'Their name' })
  await save(page).click()
  await page.getByRole('heading', { name: 'Their name' }).waitFor()
  expect(await name(page).inputValue()).toBe('Their name')
  expect(await flow.read()).toMatchObject({ name: 'Their name', subject: 'My subject', version: 2 })
})

test('what is typed while a save is running stays, and can be saved next', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.goto(`flows/${flow.id}`)
  await subject(page).fill('Half')
  const held = await holdSave(page, () => save(page).click())
  await subject(page).fill('Half and half')
  await held.continue()
  await version(page, 2).waitFor()
  await page.getByText('Saved as version 2.').waitFor()
  expect(await subject(page).inputValue()).toBe('Half and half')
  expect(await flow.read()).toMatchObject({ subject: 'Half', version: 2 })

  await save(page).click()
  await version(page, 3).waitFor()
  expect(await flow.read()).toMatchObject({ subject: 'Half and half', version: 3 })
})

test('a template with the line ends of Windows is not changed by looking at it', async () => {
  await using flow = await openFlow()
  const { page } = flow
  await flow.change({ html: '<p>Hello</p>\r\n<p>Good bye</p>' })

  await page.clock.install()
  await page.goto(`flows/${flow.id}`)
  await page.getByRole('textbox', { name: 'HTML' }).getByText('Good bye').waitFor()
  expect(await save(page).isDisabled()).toBe(true)
  await flow.change({ html: '<p>Hello</p>\r\n<p>See you</p>' })
  await comeBack(page)
  await page.getByRole('textbox', { name: 'HTML' }).getByText('See you').waitFor()
  expect(await save(page).isDisabled()).toBe(true)
})

test('versions that differ in their sender or format alone are told apart, and the sender is brought back', async () => {
  await using flow = await openFlow()
  const { page } = flow
  await flow.change({ from_name: 'Acme', from_email: 'shop@acme.example', reply_to: 'help@acme.example' })

  await page.goto(`flows/${flow.id}/versions`)
  await page.getByText('From name changed from empty to Acme').waitFor()
  await page.getByText('From address changed from empty to shop@acme.example').waitFor()
  await page.getByText('Reply-to changed from empty to help@acme.example').waitFor()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await version(page, 3).waitFor()
  expect(await flow.read()).toMatchObject({ from_name: null, from_email: null, reply_to: null, version: 3 })

  const html = '<mjml><mj-body></mj-body></mjml>'
  await flow.change({ html })
  await flow.change({ html, html_format: 'mjml' })
  await page.reload()
  await page.getByText('Format changed from HTML to MJML').waitFor()
})

test('bringing a version back asks before it discards what was not saved', async () => {
  await using flow = await openFlow()
  const { page } = flow
  await flow.change({ subject: 'Second subject' })
  const restore = page.getByRole('button', { name: 'Restore version 1' })
  const dialog = page.getByRole('dialog', { name: 'Discard unsaved changes?' })
  const tab = (label: string) => page.getByRole('navigation', { name: 'Flow' }).getByRole('link', { name: label })

  await page.goto(`flows/${flow.id}`)
  await subject(page).fill('Half a thou')
  await tab('Versions').click()
  await restore.click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await tab('Edit').click()
  expect(await subject(page).inputValue()).toBe('Half a thou')

  await tab('Versions').click()
  await restore.click()
  await dialog.getByRole('button', { name: 'Restore version 1' }).click()
  await version(page, 3).waitFor()
  await tab('Edit').click()
  expect(await subject(page).inputValue()).toBe('Your order')
})

test('bringing a version back does not replace one that was not seen', async () => {
  await using flow = await openFlow()
  const { page } = flow
  await flow.change({ subject: 'Second subject' })

  await page.goto(`flows/${flow.id}/versions`)
  await page.getByRole('button', { name: 'Restore version 1' }).waitFor()
  await flow.change({ subject: 'Third subject' })
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByRole('alert').getByText('Somebody else has saved version 3 meanwhile.').waitFor()
  await version(page, 3).waitFor()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await version(page, 4).waitFor()
  expect(await flow.read()).toMatchObject({ subject: 'Your order', version: 4 })
})

test('deleting a flow with unsaved changes leads to the list and asks no more', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.goto(`flows/${flow.id}`)
  await subject(page).fill('Half a thou')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete flow' })
  await dialog.getByLabel(/^Type/).fill('Order confirmation')
  await dialog.getByRole('button', { name: 'Delete flow' }).click()
  await page.getByRole('heading', { name: 'Flows', level: 1 }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect(flow.problems).toEqual([])
})

test('a change that makes no version is called saved, and no more', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.goto(`flows/${flow.id}`)
  await name(page).fill('Renamed')
  await save(page).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Renamed' }).waitFor()
  await version(page, 1).waitFor()
})

test('a tab that a flow does not have leads nowhere, and says so', async () => {
  await using flow = await openFlow()
  await flow.page.goto(`flows/${flow.id}/nosuchtab`)
  await flow.page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor()
})

test('a sender address that may not be used is explained at its field', async () => {
  await using flow = await openFlow({ REQUIRE_VERIFIED_DOMAINS: 'true', ALLOWED_SENDER_DOMAINS: 'acme.example' })
  const { page } = flow
  const sender = page.getByRole('button', { name: 'Sender' })
  const address = page.getByRole('textbox', { name: 'From address' })
  await page.goto(`flows/${flow.id}`)

  await sender.click()
  await address.fill('ceo@operator.example')
  await sender.click()
  await address.waitFor({ state: 'hidden' })
  await save(page).click()

  await page.getByText('This service does not send from operator.example.').waitFor()
  expect(await address.getAttribute('aria-invalid')).toBe('true')
  expect(await barriers(page)).toEqual([])
  await address.fill('shop@acme.example')
  await save(page).click()
  await version(page, 2).waitFor()
  expect(await flow.read()).toMatchObject({ from_email: 'shop@acme.example' })
})

const subject = (page: Page) => page.getByLabel('Subject')
const name = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true })
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true })
const version = (page: Page, number: number) => page.getByText(`Version ${number}`, { exact: true })

type OpenFlow = Tab & {
  id: string
  /** As a colleague would, elsewhere. */
  change(changes: object): Promise<void>
  read(): Promise<object>
}

/** A service with one flow, and a browser that is signed in. */
async function openFlow(settings: Environment = {}): Promise<OpenFlow> {
  const service = await startService({ settings })
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  const tab = await openTab(browser, service, { account })
  const path = `/organization/flows/${id}`
  return {
    ...tab,
    id,
    change: async (changes) => {
      expect((await service.manage(account.session, 'PATCH', path, changes)).status).toBe(200)
    },
    read: async () => (await service.manage(account.session, 'GET', path)).body.data,
    [Symbol.asyncDispose]: async () => {
      await tab[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** Returns to the page after so long that it asks for everything anew. */
async function comeBack(page: Page): Promise<void> {
  await page.clock.fastForward(staleMs)
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
}

/** The request that `start` makes the page save with, held on its way. */
async function holdSave(page: Page, start: () => Promise<void>): Promise<Route> {
  let hold: ((route: Route) => void) | undefined
  const held = new Promise<Route>((resolve) => {
    hold = resolve
  })
  await page.route('**/api/v1/organization/flows/*', (route) => {
    if (!hold || route.request().method() !== 'PATCH') return route.fallback()
    hold(route)
    hold = undefined
  })
  await start()
  return held
}
