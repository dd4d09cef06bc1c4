import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { pauseSending } from '../../src/operations/sending-status/sending-pause.ts'
import { longTestMsMax } from '../support/time-limits.ts'
import { until } from '../support/until.ts'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { hold, openTab } from './support/pages.ts'
import { organizationApi, registerOwner, startService, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test.each(['light', 'dark'] as const)(
  'only an invalid field is red, and its placeholder is not (%s)',
  async (theme) => {
    const account = await registerOwner(service)
    await using tab = await openTab(browser, service, { theme, account })
    const { page } = tab

    await page.goto('developers/webhooks')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    const name = page.getByLabel('Name')
    const url = page.getByLabel('URL')
    await url.focus()
    const example = await styleOf(url, 'color', '::placeholder')
    const focused = await styleOf(url, 'border-top-color')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => styleOf(name, 'border-top-color')).not.toBe(focused)
    expect(await styleOf(url, 'color', '::placeholder')).toBe(example)
  },
)

test('with reduced motion, nothing is animated while loading', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await hold(page, '**/api/v1/organization/contacts*')
  await page.goto('contacts')
  const waiting = page.getByRole('status', { name: 'Loading' }).locator('div').first()
  await waiting.waitFor()
  // The placeholder of the page is replaced by that of the list, so the element may change.
  await expect.poll(() => styleOf(waiting, 'animation-name', '::after')).toBe('none')

  const goOn = await hold(page, '**/assets/settings-frame*')
  await page.getByRole('link', { name: 'Settings' }).click()
  const line = page.locator('[data-on]')
  await line.waitFor({ state: 'attached' })
  expect(await styleOf(line, 'transition-property')).toBe('none')
  await goOn()
})

test('all pages and the banner start at the same left edge', { timeout: longTestMsMax.manyPages }, async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await pauseSending(service.db.statement, 'restored')
  const made = async (path: string, body: object) =>
    (await service.manage(account.session, 'POST', `/organization${path}`, body)).body.data.id
  const flow = await createFlow(service, account)
  const contact = await made('/contacts', { email: 'ada@example.com' })
  const webhook = await made('/webhooks', { name: 'Orders', url: 'https://example.com/hooks', all_events: true })
  const broadcast = await made('/broadcasts', { name: 'News' })
  await using tab = await openTab(browser, service, { account, isSeparate: true })
  const { page } = tab
  const paths = ['', 'flows', `flows/${flow}/edit`, `broadcasts/${broadcast}`, 'contacts', `contacts/${contact}`]
  paths.push('contacts/segments/new', 'messages', 'inbox', `developers/webhooks/${webhook}`, 'settings/organization')
  for (const width of [1440, 1920]) {
    await page.setViewportSize({ width, height: 1000 })
    for (const path of paths) {
      await page.goto(path)
      const left = async (element: Locator) => (await element.boundingBox())?.x
      const banner = page.getByRole('status').filter({ hasText: 'Sending is paused' })
      await banner.waitFor()
      // The title of the page replaces that of the loading page.
      await expect.poll(() => left(page.getByRole('heading', { level: 1 }))).toBe(256)
      expect([width, path, await left(banner)]).toEqual([width, path, 256])
    }
  }
})

test('the buttons of a dialog that is higher than the window stay visible', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account, isSeparate: true })
  const { page } = tab
  await page.setViewportSize({ width: 1440, height: 700 })

  await page.goto('developers/webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add webhook' })
  await dialog.getByLabel('emailOpen').waitFor()
  const gap = async () => {
    const [outer, button] = [
      await dialog.boundingBox(),
      await dialog.getByRole('button', { name: 'Create webhook' }).boundingBox(),
    ]
    return Math.round(outer!.y + outer!.height - button!.y - button!.height)
  }
  const atTop = await gap()
  expect(atTop).toBeGreaterThanOrEqual(12)
  await dialog.getByRole('radio').last().scrollIntoViewIfNeeded()
  expect(await gap()).toBe(atTop)
})

test('a long flow name takes at most two lines and does not break addresses', async () => {
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const flow = await manage('POST', '/flows', {
    name: 'The confirmation of an order that somebody placed in the shop of our partners '.repeat(2).trim(),
    kind: 'transactional',
    subject: 'Your order',
    html: '<p>Hello</p>',
  })
  await manage('POST', `/flows/${flow.id}/send`, { contact_email: 'augusta.ada.king@lovelace.example' })
  await manage('POST', '/groups', { name: `Everybody who ${'has ordered '.repeat(15)}`.trim() })
  await until('the email to be sent', async () => (await manage('GET', '/events')).length > 0)
  await using tab = await openTab(browser, service, { account, isSeparate: true })
  const { page } = tab

  await page.setViewportSize({ width: 1100, height: 800 })
  await page.goto('activity')
  await page.getByRole('columnheader', { name: 'Flow' }).waitFor()
  const address = page.getByRole('link', { name: 'augusta.ada.king@lovelace.example' })
  expect(await linesOf(address)).toBe(1)
  expect(await linesOf(page.getByRole('link', { name: /^The confirmation/ }))).toBeLessThanOrEqual(2)
  await page.goto('contacts/groups')
  await page.getByRole('button', { name: /^Actions for/ }).click()
  expect(await linesOf(page.getByText(/^grp_/))).toBe(1)
})

test('on a phone the actions of a group are next to its name, and buttons are large enough to tap', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/groups', { name: 'Customers' })
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto('contacts/groups')
  const name = await page.getByRole('link', { name: 'Customers' }).boundingBox()
  const actions = page.getByRole('button', { name: 'Actions for Customers' })
  const place = await actions.boundingBox()
  expect(place!.x).toBeGreaterThan(300)
  expect(Math.abs(place!.y + place!.height / 2 - (name!.y + name!.height / 2))).toBeLessThan(10)
  await actions.click()
  await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
  const copy = await page.getByRole('menuitem', { name: /^Copy ID grp_/ }).boundingBox()
  expect(copy!.height).toBeGreaterThanOrEqual(24)
  expect(copy!.x).toBeGreaterThanOrEqual(0)
  expect(await barriers(page)).toEqual([])
})

const styleOf = (element: Locator, property: string, part: string | null = null): Promise<string> =>
  element.evaluate(
    (one, [name, pseudo]) => {
      const { defaultView: view } = one.ownerDocument
      return view.getComputedStyle(one, pseudo).getPropertyValue(name)
    },
    [property, part] as const,
  )

const linesOf = (element: Locator): Promise<number> =>
  element.evaluate((one) => {
    const { defaultView: view } = one.ownerDocument
    return Math.round(one.getBoundingClientRect().height / Number.parseFloat(view.getComputedStyle(one).lineHeight))
  })
