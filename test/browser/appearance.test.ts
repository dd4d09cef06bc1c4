import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from './support/chromium.ts'
import { hold, openTab } from './support/pages.ts'
import { registerOwner, startService } from './support/service.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

test.each(['light', 'dark'] as const)('only a field with a fault is red, and never its example (%s)', async (theme) => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { theme, account })
  const { page } = tab

  await page.goto('settings/webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const name = page.getByLabel('Name')
  const url = page.getByLabel('URL')
  await url.focus()
  const example = await styleOf(url, 'color', '::placeholder')
  const focused = await styleOf(url, 'border-top-color')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  expect(await styleOf(name, 'border-top-color')).not.toBe(focused)
  expect(await styleOf(url, 'color', '::placeholder')).toBe(example)
})

test('nothing that waits moves for who asked for less motion', async () => {
  await using service = await startService()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await hold(page, '**/api/v1/organization/contacts*')
  await page.goto('contacts')
  const waiting = page.getByRole('status', { name: 'Loading' }).locator('div').first()
  await waiting.waitFor()
  expect(await styleOf(waiting, 'animation-name', '::after')).toBe('none')

  const goOn = await hold(page, '**/assets/settings-frame*')
  await page.getByRole('link', { name: 'Settings' }).click()
  const line = page.locator('[data-on]')
  await line.waitFor({ state: 'attached' })
  expect(await styleOf(line, 'transition-property')).toBe('none')
  await goOn()
})

const styleOf = (element: Locator, property: string, part: string | null = null): Promise<string> =>
  element.evaluate(
    (one, [name, pseudo]) => {
      const { defaultView: view } = one.ownerDocument
      return view.getComputedStyle(one, pseudo).getPropertyValue(name)
    },
    [property, part] as const,
  )
