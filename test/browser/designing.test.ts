import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { picture } from './support/picture.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('the gallery shows, renames and deletes images, and says why a file was rejected', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('flows/images')
  const files = page.getByLabel('Image files')
  await files.setInputFiles([
    { name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('notes') },
    { name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') },
    await picture('team photo', 200),
  ])
  await page.getByText('notes.png: Image is not a PNG, JPEG, GIF or WebP image.').waitFor()
  await page.getByText('logo.svg: Not a PNG, JPEG, GIF or WebP image.').waitFor()
  await page.getByRole('button', { name: 'team photo 200 × 80' }).click()
  const dialog = page.getByRole('dialog', { name: 'team photo' })
  await dialog.getByText('Not used in any flow.').waitFor()
  expect(await barriers(page)).toEqual([])
  await dialog.getByLabel('Description').fill('Our team')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'team photo 200 × 80' }).click()
  expect(await dialog.getByLabel('Description').inputValue()).toBe('Our team')
  await dialog.getByRole('button', { name: 'Delete image' }).click()
  await page.getByRole('dialog', { name: 'Delete image?' }).getByRole('button', { name: 'Delete image' }).click()
  await page.getByText('No images yet').waitFor()
})

test('a part is created, included in a flow with an attribute of an older contact, and changed in the published flow', async () => {
  const account = await registerOwner(service)
  const addContact = (email: string, attributes = {}) =>
    service.manage(account.session, 'POST', '/organization/contacts', { email, attributes })
  await addContact('ada@example.com', { plan: 'pro' })
  await Promise.all(Array.from({ length: 100 }, (_, index) => addContact(`new${index}@example.com`)))
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const dialog = page.getByRole('dialog')
  await page.goto('flows/parts')
  await page.getByRole('button', { name: 'Create part' }).click()
  await dialog.getByLabel('Name').fill('Footer')
  await dialog.getByRole('button', { name: 'Create part' }).click()
  await dialog.getByText('Use lower-case letters, digits, - and _, and start with a letter.').waitFor()
  await dialog.getByLabel('Name').fill('footer')
  await dialog.getByLabel('MJML or HTML').fill('<p>Bye for now</p>')
  expect(await barriers(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create part' }).click()
  await page.getByText('{% part "footer" %}').waitFor()

  await page.goto('flows/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('News')
  await page.locator('.cm-content').waitFor()
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  await page.getByRole('menuitem', { name: 'footer', exact: true }).click()
  await page.frameLocator('iframe').getByText('Bye for now').waitFor()
  await page.getByRole('button', { name: 'Variable', exact: true }).click()
  await page.getByRole('menuitem', { name: 'contact.attributes.plan' }).click()
  // An image without a description can be inserted, and is reported.
  await page.getByRole('button', { name: 'Image', exact: true }).click()
  await dialog.getByLabel('Image file').setInputFiles(await picture('team photo', 200))
  await dialog.getByRole('button', { name: 'Insert image' }).click()
  const finding = page.getByRole('listitem').filter({ hasText: 'An image has no alt text' })
  await finding.getByRole('button', { name: /, line \d+/ }).waitFor()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('button', { name: 'Publish' }).click()
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('Version 1', { exact: true }).waitFor()

  await page.goto('flows/parts')
  await page.getByRole('button', { name: 'footer', exact: true }).click()
  await dialog.getByLabel('MJML or HTML').fill('<p>See you</p>')
  const opened = page.waitForEvent('popup')
  await dialog.getByRole('link', { name: 'News' }).click()
  const flow = await opened
  await flow.getByRole('heading', { name: 'News', level: 1 }).waitFor()
  await flow.close()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('button', { name: 'Publish again' }).click()
  await page.getByText('Published with the new part').waitFor()
  await page.goto('flows')
  await page.getByRole('link', { name: 'News' }).click()
  await page.getByText('Version 2', { exact: true }).waitFor()
  expect(tab.problems).toEqual([])
})

test('starters load a few previews at a time, and say which could not be loaded', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const requests: Route[] = []
  await page.route('**/organization/flows/preview', (route) => void requests.push(route))
  const next = (count: number) => until(`${count} requests`, async () => requests.length === count)
  await page.goto('flows/starters')
  await next(3)
  const tooMany = { status: 429, json: { message: 'Too many requests.', error: { type: 'rate_limited' } } }
  await requests[0]!.fulfill(tooMany)
  await next(4)
  const failed = page.getByRole('listitem').filter({ hasText: 'No preview available' })
  await failed.waitFor()
  expect(await failed.count()).toBe(1)
  expect(await barriers(page)).toEqual([])
  // Removing the handler lets the other requests continue.
  await page.unroute('**/organization/flows/preview')
  await failed.getByRole('button', { name: /^Try again to load the preview of \w/ }).click()
  await expect.poll(() => page.locator('iframe').count()).toBe(8)
})

test('the brand asks before it discards changes, and says why its preview is missing', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const previews = '**/flows/preview'
  await page.route(previews, (route) => route.fulfill({ status: 400, json: { message: 'Not today.' } }))
  await page.goto('settings/brand')
  await page.getByRole('alert').getByText('Not today.').waitFor()
  await page.unroute(previews)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.frameLocator('iframe').getByText('See what’s new').waitFor()

  await page.getByLabel('Name').fill('Acme Store')
  await page.getByRole('link', { name: 'Flows' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
  await dialog.getByRole('button', { name: 'Stay' }).click()
  const [color, website] = [page.getByLabel('Color of buttons and links'), page.getByLabel('Website')]
  await website.fill('shop.acme.example')
  await color.fill('red')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter a color such as #1f5fa3.').waitFor()
  await color.fill('#aa3300')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Brand saved').waitFor()
  await expect.poll(() => website.inputValue()).toBe('https://shop.acme.example/')
  await page.getByRole('link', { name: 'Flows' }).first().click()
  await page.getByRole('link', { name: 'Create flow' }).first().waitFor()
})
