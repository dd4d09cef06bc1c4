import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { chooseAction, openTab, type Tab } from './support/pages.ts'
import { registerOwner, startService, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const sharedService = await startSharedService()

const staleMs = 60_000

test('an unchanged editor shows the version that a colleague saved', async () => {
  await using flow = await openFlow(sharedService, true)
  const { page } = flow

  await page.clock.install()
  await page.goto(`flows/${flow.id}/edit`)
  await subject(page).waitFor()
  await flow.change({ subject: 'Their subject' })
  await comeBack(page)
  await version(page, 2).waitFor()
  await expect.poll(() => subject(page).inputValue()).toBe('Their subject')
  await expect.poll(() => save(page).isDisabled()).toBe(true)
})

test('changes based on an older version or draft are saved on top of the newer one only after confirmation', async () => {
  await using flow = await openFlow()
  const { page } = flow
  const notice = (title: string) => page.getByRole('alert').filter({ hasText: title })

  await page.goto(`flows/${flow.id}/edit`)
  await subject(page).fill('My subject')
  await flow.change({ subject: 'Their subject' })
  await save(page).click()
  const published = notice('Someone else published version 2')
  await published.waitFor()
  expect(await barriers(page)).toEqual([])
  expect(await subject(page).inputValue()).toBe('My subject')
  await published.getByRole('button', { name: 'Save my changes anyway' }).click()
  await saved(page).waitFor()
  await published.waitFor({ state: 'hidden' })
  expect(await flow.read()).toMatchObject({ subject: 'Their subject', version: 2 })
  expect(await flow.draft()).toMatchObject({ subject: 'My subject', base_version: 2, revision: 1 })

  await subject(page).fill('My next subject')
  await flow.saveDraft({ subject: 'Their draft', name: 'Their name' })
  await page.keyboard.press('Control+s')
  const drafted = notice('Someone else saved this draft')
  await drafted.waitFor()
  await drafted.getByRole('button', { name: 'Discard my changes' }).click()
  await drafted.waitFor({ state: 'hidden' })
  await expect.poll(() => subject(page).inputValue()).toBe('Their draft')
  await expect.poll(() => name(page).inputValue()).toBe('Their name')
  await expect.poll(() => save(page).isDisabled()).toBe(true)
  expect(await flow.draft()).toMatchObject({ subject: 'Their draft', revision: 2 })
  expect(flow.problems.filter((problem) => !problem.includes('409'))).toEqual([])
})

test('a colleague’s new name stays when the text is saved', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.goto(`flows/${flow.id}/edit`)
  await subject(page).fill('My subject')
  await flow.change({ name: 'Their name' })
  await save(page).click()
  await saved(page).waitFor()
  await expect.poll(() => name(page).inputValue()).toBe('Their name')
  expect(await flow.draft()).toMatchObject({ name: 'Their name', subject: 'My subject' })
})

test('text typed during a save is kept and can be saved next', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.goto(`flows/${flow.id}/edit`)
  await subject(page).fill('Half')
  const held = await holdSave(page, () => save(page).click())
  await subject(page).fill('Half and half')
  await held.continue()
  await saved(page).waitFor()
  expect(await subject(page).inputValue()).toBe('Half and half')
  expect(await flow.draft()).toMatchObject({ subject: 'Half', revision: 1 })

  await save(page).click()
  await expect.poll(() => flow.draft()).toMatchObject({ subject: 'Half and half', revision: 2 })
})

test('opening a template with CRLF line endings does not change it', async () => {
  await using flow = await openFlow(sharedService, true)
  const { page } = flow
  await flow.change({ html: '<p>Hello</p>\r\n<p>Good bye</p>' })

  await page.clock.install()
  await page.goto(`flows/${flow.id}/edit`)
  await page.getByRole('textbox', { name: 'HTML' }).getByText('Good bye').waitFor()
  expect(await save(page).isDisabled()).toBe(true)
  await flow.change({ html: '<p>Hello</p>\r\n<p>See you</p>' })
  await comeBack(page)
  await page.getByRole('textbox', { name: 'HTML' }).getByText('See you').waitFor()
  await expect.poll(() => save(page).isDisabled()).toBe(true)
})

test('differences in the sender or the format are shown, and restoring a version restores its sender', async () => {
  await using flow = await openFlow()
  const { page } = flow
  await flow.change({ from_name: 'Acme', from_email: 'shop@acme.example', reply_to: 'help@acme.example' })

  await page.goto(`flows/${flow.id}/versions`)
  await page.getByText('From name changed from empty to Acme').waitFor()
  await page.getByText('From address changed from empty to shop@acme.example').waitFor()
  await page.getByText('Reply-to changed from empty to help@acme.example').waitFor()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByText('Version 1 is now the draft.').waitFor()
  expect(await flow.draft()).toMatchObject({ from_name: null, from_email: null, reply_to: null, base_version: 2 })
  expect(await flow.read()).toMatchObject({ from_name: 'Acme', version: 2 })

  const html = '<mjml><mj-body></mj-body></mjml>'
  await flow.change({ html })
  await flow.change({ html, html_format: 'mjml' })
  await page.reload()
  await page.getByText('Format changed from HTML to MJML').waitFor()
})

test('restoring a version asks before it replaces unpublished changes', async () => {
  await using flow = await openFlow()
  const { page } = flow
  await flow.change({ subject: 'Second subject' })
  const restore = page.getByRole('button', { name: 'Restore version 1' })
  const dialog = page.getByRole('dialog', { name: 'Replace your unpublished changes?' })
  const tab = (label: string) => page.getByRole('navigation', { name: 'Flow' }).getByRole('link', { name: label })

  await page.goto(`flows/${flow.id}/edit`)
  await subject(page).fill('Half a thou')
  await tab('Versions').click()
  await restore.click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await tab('Edit').click()
  await expect.poll(() => subject(page).inputValue()).toBe('Half a thou')

  await tab('Versions').click()
  await restore.click()
  await dialog.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByText('Unpublished changes', { exact: true }).waitFor()
  await tab('Edit').click()
  await expect.poll(() => subject(page).inputValue()).toBe('Your order')
})

test('restoring a version does not replace a newer one that was not shown yet', async () => {
  await using flow = await openFlow()
  const { page } = flow
  await flow.change({ subject: 'Second subject' })

  await page.goto(`flows/${flow.id}/versions`)
  await page.getByRole('button', { name: 'Restore version 1' }).waitFor()
  await flow.change({ subject: 'Third subject' })
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByRole('alert').getByText('Version 3 of this flow was saved in the meantime.').waitFor()
  await version(page, 3).waitFor()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByText('Version 1 is now the draft.').waitFor()
  expect(await flow.draft()).toMatchObject({ subject: 'Your order', base_version: 3 })
})

test('deleting a flow with unsaved changes opens the list without asking again', async () => {
  await using flow = await openFlow()
  const { page } = flow

  await page.goto(`flows/${flow.id}/edit`)
  await subject(page).fill('Half a thou')
  await chooseAction(page, 'Delete')
  const dialog = page.getByRole('dialog', { name: 'Delete flow' })
  await dialog.getByLabel(/^Type/).fill('Order confirmation')
  await dialog.getByRole('button', { name: 'Delete flow' }).click()
  await page.getByRole('heading', { name: 'Flows', level: 1 }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect(flow.problems).toEqual([])
})

test('an unknown tab of a flow shows the page for unknown addresses', async () => {
  await using flow = await openFlow()
  await flow.page.goto(`flows/${flow.id}/nosuchtab`)
  await flow.page.getByRole('heading', { name: 'This page doesn’t exist' }).waitFor()
})

test('a sender address that is not allowed is explained at its field', async () => {
  const settings = { REQUIRE_VERIFIED_DOMAINS: 'true', ALLOWED_SENDER_DOMAINS: 'acme.example' }
  await using service = await startService({ settings })
  await using flow = await openFlow(service)
  const { page } = flow
  const sender = page.getByRole('button', { name: 'Sender' })
  const address = page.getByRole('textbox', { name: 'From address' })
  await page.goto(`flows/${flow.id}/edit`)

  await sender.click()
  await page.getByRole('combobox', { name: 'Sender address' }).click()
  await page.getByRole('option', { name: 'Another address' }).click()
  await address.fill('ceo@operator.example')
  await sender.click()
  await address.waitFor({ state: 'hidden' })
  await save(page).click()

  await page.getByText('This service does not send from operator.example.').waitFor()
  expect(await address.getAttribute('aria-invalid')).toBe('true')
  expect(await barriers(page)).toEqual([])
  await address.fill('shop@acme.example')
  await save(page).click()
  await saved(page).waitFor()
  expect(await flow.draft()).toMatchObject({ from_email: 'shop@acme.example' })
})

const subject = (page: Page) => page.getByLabel('Subject')
const name = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true })
const save = (page: Page) => page.getByRole('button', { name: 'Save draft', exact: true })
const saved = (page: Page) => page.getByText('Draft saved.').first()
const version = (page: Page, number: number) => page.getByText(`Version ${number}`, { exact: true })

type OpenFlow = Tab & {
  id: string
  /** Changes the flow as a colleague in another browser would. */
  change(changes: object): Promise<void>
  read(): Promise<object>
  /** Saves the draft as a colleague would. */
  saveDraft(changes: object): Promise<void>
  draft(): Promise<object>
}

/** An organization with one flow, and a page that is signed in. */
async function openFlow(service = sharedService, isSeparate = false): Promise<OpenFlow> {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  const tab = await openTab(browser, service, { account, isSeparate })
  const path = `/organization/flows/${id}`
  return {
    ...tab,
    id,
    change: async (changes) => {
      expect((await service.manage(account.session, 'PATCH', path, changes)).status).toBe(200)
    },
    read: async () => (await service.manage(account.session, 'GET', path)).body.data,
    saveDraft: async (changes) => {
      expect((await service.manage(account.session, 'PUT', `${path}/draft`, changes)).status).toBe(200)
    },
    draft: async () => (await service.manage(account.session, 'GET', `${path}/draft`)).body.data,
  }
}

/** Returns to the page after its data has become stale, so that it is fetched again. */
async function comeBack(page: Page): Promise<void> {
  await page.clock.fastForward(staleMs)
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
}

/** Runs `start` and returns the save request that it causes, without sending it. */
async function holdSave(page: Page, start: () => Promise<void>): Promise<Route> {
  let hold: ((route: Route) => void) | undefined
  const held = new Promise<Route>((resolve) => {
    hold = resolve
  })
  await page.route('**/api/v1/organization/flows/*/draft', (route) => {
    if (!hold || route.request().method() !== 'PUT') return route.fallback()
    hold(route)
    hold = undefined
  })
  await start()
  return held
}
