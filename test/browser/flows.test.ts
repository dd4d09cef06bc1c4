import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { hold, openTab, segment, sizes } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test.each(sizes)(
  'an error in a template is marked at its line and column, and the fixed template is published (%s)',
  async (size) => {
    const account = await registerOwner(service)
    await using tab = await openTab(browser, service, { size, account })
    const { page } = tab

    await page.goto('flows/new')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Order confirmation')
    await write(page, '<p>Hello</p>\n<p>{% if paid %}paid</p>\n')
    // Beside the editor on a wide screen; below it and above the preview on a phone.
    const place = page
      .getByRole('button', { name: /^HTML, line 2, column \d+$/ })
      .filter({ visible: true })
      .first()
    await place.click()
    // Unfinished work can be saved, but not published.
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { name: 'Order confirmation' }).waitFor()
    await page.getByText('Draft', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    const dialog = page.getByRole('dialog', { name: 'Publish flow' })
    await dialog.getByText('Fix the template before publishing').waitFor()
    expect(await dialog.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })

    await write(page, '<p>Hello</p>\n<p>Order {{ order_id }} {% if paid %}is paid{% endif %}</p>\n')
    await place.waitFor({ state: 'hidden' })
    await page.getByLabel('order_id').fill('A-1001')
    await page.frameLocator('iframe').getByText('Order A-1001').waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    await dialog.getByText('goes live. Your app and broadcasts can send it.').waitFor()
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await page.getByText('Version 1', { exact: true }).waitFor()
    await page.getByText('Active', { exact: true }).waitFor()
    expect(tab.problems).toEqual([])
  },
)

test('the preview has a desktop and a phone layout, runs no scripts and shows the plain text', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('flows/new')
  await write(page, '<p>Hello</p><script>document.body.textContent = "taken over"</script>')
  await page.frameLocator('iframe').getByText('Hello').waitFor()
  await segment(page, 'Preview as', 'Phone').click()
  expect((await page.locator('iframe').boundingBox())?.width).toBe(375)
  await segment(page, 'Preview as', 'Desktop').click()
  await write(
    page,
    '<style>@media (max-width: 600px) { b { display: none } } i { display: none } @media (prefers-color-scheme: dark) { i { display: inline } }</style><p><b>Wide layout</b> <i>dark</i></p>',
  )
  await page.frameLocator('iframe').getByText('Wide layout').waitFor()
  expect(
    await page.locator('iframe').evaluate((frame) => (frame as unknown as { offsetWidth: number }).offsetWidth),
  ).toBe(640)
  expect(await page.frameLocator('iframe').getByText('dark', { exact: true }).isVisible()).toBe(false)
  await page.getByRole('switch', { name: 'Dark mode' }).check()
  await page.frameLocator('iframe').getByText('dark', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Open in full window' }).click()
  const large = page.getByRole('dialog').frameLocator('iframe')
  await large.getByText('Wide layout').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await segment(page, 'Preview as', 'Text').click()
  await page.getByRole('region', { name: 'Preview' }).locator('pre').getByText('Wide layout').waitFor()
})

test.each(sizes)(
  'a click on a text, link or image in the preview selects its source, and edits it there (%s)',
  async (size) => {
    const account = await registerOwner(service)
    await using tab = await openTab(browser, service, { size, account })
    const { page } = tab
    await page.goto('flows/new?starter=newsletter')
    const email = page.frameLocator('iframe')
    const form = page.getByRole('form', { name: 'Edit in place' })
    const code = page.getByRole('textbox', { name: 'HTML' })
    // The head is folded, so that the words of the email are in sight.
    await code.getByText('<mj-head>').waitFor()
    await expect.poll(() => code.innerText()).not.toContain('mj-attributes')

    await email.getByText('Read more').first().click()
    await form.getByLabel('Text').fill('Read it & smile')
    await form.getByLabel('Link address').fill('https://example.com/story?a=1&b={{ contact.email }}')
    expect(await barriers(page)).toEqual([])
    await form.getByRole('button', { name: 'Apply' }).click()
    await form.waitFor({ state: 'hidden' })
    await email.getByText('Read it & smile').first().waitFor()
    expect(await email.getByText('Read it & smile').first().getAttribute('href')).toMatch(/story\?a=1&b=owner/)
    await expect.poll(() => code.innerText()).toContain('Read it &amp; smile')

    await expect.poll(() => code.innerText()).not.toContain('mj-attributes')

    // Nothing in the preview can act as the app.
    await page.goto('flows/new')
    await write(
      page,
      '<a href="javascript:top.taken = 1" onclick="top.taken = 1">Take over</a> <img src="/x.png" onerror="top.taken = 1">',
    )
    await email.getByText('Take over').click()
    await form.getByLabel('Link address').waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'hidden' })
    expect(await page.evaluate('window.taken')).toBeUndefined()
  },
)

test('a block without a cursor is inserted above the footer, and the preview shows it', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('flows/new?starter=newsletter')
  const email = page.frameLocator('iframe')
  await email.locator('body').waitFor()
  await page.getByRole('button', { name: 'Block' }).click()
  await page.getByRole('menuitem', { name: 'Quote' }).click()
  const quote = email.getByText('A sentence that a customer said')
  await quote.waitFor()
  const frame = (await page.locator('iframe').boundingBox())!
  await expect
    .poll(async () => {
      const { y = 0 } = (await quote.boundingBox()) ?? {}
      return y > frame.y && y < frame.y + frame.height
    })
    .toBe(true)
  const unsubscribe = email.getByText('Unsubscribe')
  expect((await quote.boundingBox())!.y).toBeLessThan((await unsubscribe.boundingBox())!.y)
  await page.getByRole('button', { name: 'Variable', exact: true }).click()
  await page.getByRole('menuitem', { name: 'contact.first_name' }).click()
  const code = page.getByRole('textbox', { name: 'HTML' })
  await expect.poll(() => code.innerText()).toMatch(/said about you.” \{\{ contact\.first_name \}\}/)
  await page.getByText('The preview is out of date').waitFor({ state: 'hidden' })
  expect(tab.problems).toEqual([])
})

test('while the preview is being updated, it says so', async () => {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`flows/${id}/edit`)
  await page.frameLocator('iframe').getByText('Hello').waitFor()
  const goOn = await hold(page, '**/flows/preview')
  await write(page, '<p>Good morning</p>')
  const updating = page.getByRole('region', { name: 'Preview' }).getByRole('status').getByText('Updating…')
  await updating.waitFor()
  await goOn()
  await page.frameLocator('iframe').getByText('Good morning').waitFor()
  await updating.waitFor({ state: 'hidden' })
})

test('saving a new flow keeps the recipient of the preview and the sender fields open', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/contacts', {
    email: 'grace@example.com',
    first_name: 'Grace',
  })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('flows/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Welcome back')
  await page.getByRole('button', { name: 'Sender' }).click()
  const recipient = page.getByRole('combobox', { name: 'Recipient' })
  await recipient.fill('grace')
  await page.getByRole('option', { name: /Grace/ }).click()
  await page.frameLocator('iframe').getByText('Hello Grace').waitFor()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('heading', { name: 'Welcome back', level: 1 }).waitFor()
  await page.frameLocator('iframe').getByText('Hello Grace').waitFor()
  expect(await recipient.inputValue()).toContain('grace@example.com')
  await page.getByRole('combobox', { name: 'Sender address' }).waitFor()
})

test('the preview says what to correct and where, and the flow can still be saved', async () => {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`flows/${id}/edit`)
  await write(page, '<p>Read <a href="{{ link }}">more</a></p>')
  await page.getByLabel('link', { exact: true }).fill('example.com/x')
  const warning = page
    .getByRole('region', { name: 'Preview' })
    .getByText('The link "example.com/x" does not start with https://')
  await warning.waitFor()
  await page.getByRole('button', { name: 'Campaign parameters (UTM)' }).click()
  await page.getByLabel('Campaign (optional)').fill('spring sale')
  await page.getByText('utm_campaign=spring%20sale').waitFor()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('Unpublished changes', { exact: true }).waitFor()
  await page.getByLabel('link', { exact: true }).fill(`${service.url}health`)
  await warning.waitFor({ state: 'hidden' })
  await write(page, '<p>Hello</p>\n<p><a href="https://example.org/x">a</a></p>')
  await page.getByRole('button', { name: 'HTML, line 2, column 12' }).click()
})

test('the help lists variables and filters, and closing it returns the focus to its button', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto('flows/new')
  const button = page.getByRole('button', { name: 'Variables and filters' })
  await button.click()
  const help = page.getByRole('dialog', { name: 'Variables and filters' })
  await help.getByRole('region', { name: 'Variables' }).getByText('contact.first_name', { exact: true }).waitFor()
  await help.getByRole('region', { name: 'Filters' }).getByText('| default: "friend"').waitFor()
  expect(await barriers(page)).toEqual([])
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'hidden' })
  await expect.poll(() => button.evaluate((element) => element.matches(':focus'))).toBe(true)
})

test('leaving the editor with unsaved changes asks for confirmation', async () => {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`flows/${id}/edit`)
  await page.getByLabel('Subject').fill('Half a thou')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Contacts' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click()
  expect(await page.getByLabel('Subject').inputValue()).toBe('Half a thou')
})

test('a test email is sent with the sample data, and the API call uses it too', async () => {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`flows/${id}/edit`)
  await page.getByLabel('name', { exact: true }).fill('Ada')
  await page.frameLocator('iframe').getByText('Hello Ada').waitFor()
  await page.getByRole('button', { name: 'Send test email' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Test emails don’t count in your statistics').waitFor()
  await dialog.getByLabel(/^To/).fill('ada@example.com')
  await dialog.getByLabel(/^To/).press('Enter')
  await dialog.getByRole('button', { name: 'Send test email' }).click()
  const sent = dialog.getByRole('status').getByRole('listitem')
  await sent.filter({ hasText: account.email }).waitFor()
  await dialog.getByRole('status').getByText('Sent', { exact: true }).waitFor()
  await sent.filter({ hasText: 'ada@example.com' }).getByRole('link', { name: 'View delivery' }).click()
  await page.getByRole('heading', { name: '[Test] Your order' }).waitFor()
  await page.getByText('Test', { exact: true }).waitFor()
  await page.getByText('Test emails have no events').waitFor()
  await page.frameLocator('iframe').getByText('Hello Ada').waitFor()

  await page.goto(`flows/${id}/use`)
  const sentByCall = async () => {
    const call = await page.getByRole('figure', { name: 'curl call' }).textContent()
    return JSON.parse(/-d '(.*)'/s.exec(call ?? '')?.[1] ?? '{}')
  }
  await expect.poll(sentByCall).toMatchObject({ flow_id: id, context: { name: 'Ada' } })
})

test('a test email to a suppressed address is not reported as sent', async () => {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  await service.manage(account.session, 'POST', '/organization/suppressions', { email: 'ada@example.com' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`flows/${id}/edit`)
  await page.getByLabel('name', { exact: true }).fill('Ada')
  await page.frameLocator('iframe').getByText('Hello Ada').waitFor()
  await page.getByRole('button', { name: 'Send test email' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^To/).press('Backspace')
  await dialog.getByLabel(/^To/).fill('ada@example.com')
  await dialog.getByRole('button', { name: 'Send test email' }).click()
  await dialog.getByRole('status').getByText('Not sent: ada@example.com is suppressed').waitFor()
  expect(await dialog.getByText('Sent', { exact: true }).count()).toBe(0)
  await dialog.getByRole('link', { name: 'Suppressions' }).click()
  await page.getByRole('table', { name: 'Suppressions' }).getByText('ada@example.com').waitFor()
})

test('an error in the subject is marked at its field, and the preview is marked as out of date', async () => {
  const account = await registerOwner(service)
  const id = await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`flows/${id}/edit`)
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('Your order', { exact: true }).waitFor()
  const subject = page.getByLabel('Subject')
  await subject.fill('Your order {{ order_id')
  await expect.poll(() => subject.getAttribute('aria-invalid')).toBe('true')
  await preview.getByText('Preview is out of date').waitFor()
  await page
    .getByRole('button', { name: /^Subject, line 1/ })
    .first()
    .click()
  await expect.poll(() => subject.evaluate((field) => field.matches(':focus'))).toBe(true)

  await subject.fill('Hello {{ contact.frist_name }}')
  await preview.getByText('There is no contact.frist_name. Did you mean contact.first_name?').waitFor()
  await page
    .getByRole('button', { name: /^Subject, line 1, column 10/ })
    .first()
    .waitFor()
  const variables = page.getByRole('region', { name: 'Variables' })
  expect(await variables.textContent()).not.toContain('frist_name')

  await subject.fill('Your order is here')
  await preview.getByText('Your order is here').waitFor()
  await preview.getByText('Preview is out of date').waitFor({ state: 'hidden' })
  expect(await subject.getAttribute('aria-invalid')).not.toBe('true')
})

test('the author of a version is shown in full, even with a long address', async () => {
  const email = 'a.rather.long.name.of.an.owner@mail.subsidiary.acme.example'
  const account = await registerOwner(service, 'Acme', email)
  const id = await createFlow(service, account)
  await service.manage(account.session, 'PATCH', `/organization/flows/${id}`, { subject: 'Your order is here' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`flows/${id}/versions`)
  const from = page.getByRole('combobox', { name: 'From' })
  await from.waitFor()
  expect(await from.evaluate((input) => input.scrollWidth <= input.clientWidth)).toBe(true)
  const versions = page.getByRole('region', { name: 'Versions' })
  expect(await versions.getByText(`Saved by ${email}`).filter({ visible: true }).count()).toBe(2)
  await from.click()
  await page.getByRole('option', { name: `Version 2` }).getByText(email).waitFor()
})

test('the search of the flows survives a reload and the back button', async () => {
  const account = await registerOwner(service)
  await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('flows')
  await page.getByLabel('Search flows').fill('confirm')
  await page.waitForURL('**/flows?query=confirm')
  await segment(page, 'Status', 'Active').click()
  await page.waitForURL('**/flows?query=confirm&status=active')
  await page.reload()
  await page.getByRole('link', { name: 'Order confirmation' }).click()
  await page.getByRole('heading', { name: 'Order confirmation' }).waitFor()
  await page.goBack()
  await expect.poll(() => page.getByLabel('Search flows').inputValue()).toBe('confirm')
  expect(await page.getByRole('radio', { name: 'Active' }).isChecked()).toBe(true)
})

test('while a new search is loading, the old list is marked as busy', async () => {
  const account = await registerOwner(service)
  await createFlow(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('flows')
  const busy = page.locator('[aria-busy="true"]')
  await page.getByRole('link', { name: 'Order confirmation' }).waitFor()
  expect(await busy.count()).toBe(0)
  const goOn = await hold(page, '**/organization/flows?*query=*')
  await page.getByLabel('Search flows').fill('nothing like it')
  await busy.getByRole('link', { name: 'Order confirmation' }).waitFor()
  await goOn()
  await page.getByRole('heading', { name: 'No flows found' }).waitFor()
  await expect.poll(() => busy.count()).toBe(0)
})

/** Replaces the text of the editor. */
async function write(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'HTML' })
  await editor.focus()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}
