import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { hold, openTab } from './support/pages.ts'
import { registerOwner, startService } from './support/service.ts'

const browser = await sharedBrowser()

test.each(['light', 'dark'] as const)(
  'only an invalid field is red, and its placeholder is not (%s)',
  async (theme) => {
    await using service = await startService()
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
  await using service = await startService()
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

test('a long flow name takes at most two lines and does not break addresses', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  const manage = async (method: string, path: string, body?: unknown) =>
    (await service.manage(account.session, method, `/organization${path}`, body)).body.data
  const flow = await manage('POST', '/flows', {
    name: 'The confirmation of an order that somebody placed in the shop of our partners '.repeat(2).trim(),
    kind: 'transactional',
    subject: 'Your order',
    html: '<p>Hello</p>',
  })
  await manage('POST', `/flows/${flow.id}/send`, { contact_email: 'augusta.ada.king@lovelace.example' })
  await manage('POST', '/groups', { name: `Everybody who ${'has ordered '.repeat(15)}`.trim() })
  await until('the email to be sent', async () => (await manage('GET', '/events')).length > 0)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.setViewportSize({ width: 1100, height: 800 })
  await page.goto('activity')
  await page.getByRole('columnheader', { name: 'Flow' }).waitFor()
  const address = page.getByRole('link', { name: 'augusta.ada.king@lovelace.example' })
  expect(await linesOf(address)).toBe(1)
  expect(await linesOf(page.getByRole('link', { name: /^The confirmation/ }))).toBeLessThanOrEqual(2)
  await page.goto('contacts/groups')
  expect(await linesOf(page.getByText(/^grp_/))).toBe(1)
})

test('on a phone the actions of a group are next to its name, and buttons are large enough to tap', async () => {
  await using service = await startService()
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
  await page.keyboard.press('Escape')
  const copy = await page.getByRole('button', { name: 'Copy the ID of Customers' }).boundingBox()
  expect(Math.min(copy!.width, copy!.height)).toBeGreaterThanOrEqual(24)
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
