import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { startRelay, type TestRelay } from '../support/relay.ts'
import { longTestMsMax } from '../support/time-limits.ts'
import { until } from '../support/until.ts'
import { barriers, barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { choose, goTo, openTab, sizes } from './support/pages.ts'
import { picture } from './support/picture.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

const readers = ['ada', 'grace', 'alan']
const person = { 'user-agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)' }

/** Chooses a logo, the color of buttons and the postal address. */
async function setBrand(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  const frame = page.frameLocator('iframe')
  await page.goto('settings/brand')
  await page.getByRole('button', { name: 'Choose logo' }).click()
  await dialog.getByLabel('Image file').setInputFiles(await picture('logo', 120))
  await page.getByAltText('Current logo').waitFor()
  await page.getByLabel('Name').fill('Acme Store')
  // The text of buttons is dark on a light color, and the default is restored by emptying the field.
  const color = page.getByLabel('Color of buttons and links')
  const button = frame.getByRole('link', { name: 'See what’s new' })
  await color.fill('#ffee88')
  await expect.poll(() => button.getAttribute('style')).toMatch(/;color:#101418;font-family:system-ui, /)
  await color.fill('#12')
  await color.press('Enter')
  await page.getByText('Enter a color such as #1f5fa3.').waitFor()
  await color.fill('')
  await page.getByLabel('Postal address').fill('Main Street 1\nVienna')
  await page.getByLabel('Website').fill('acme.example')
  await frame.getByText('Main Street 1, Vienna').waitFor()
  expect(await barriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Brand saved').waitFor()
  expect(await color.inputValue()).toBe('#1f5fa3')
}

/** A starter and a picture, saved as a draft. */
async function writeEmail(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  const frame = page.frameLocator('iframe')
  await goTo(page, 'Flows')
  await page.getByRole('link', { name: 'Create flow' }).first().click()
  await page.getByRole('link', { name: 'Newsletter' }).click()
  await page.getByLabel('Subject', { exact: true }).fill('Summer news')
  await page.getByLabel('Preheader').fill('Three short stories')
  await frame.getByText('What’s new this month').first().waitFor()
  await page.getByRole('button', { name: 'Image', exact: true }).click()
  await dialog.getByLabel('Image file').setInputFiles(await picture('Summer sale', 1_200))
  await dialog.getByLabel('Description').fill('A beach at sunset')
  expect(await barriers(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Insert image' }).click()
  await expect.poll(() => frame.locator('img').count()).toBe(2)
  await page.getByRole('button', { name: 'Variable', exact: true }).click()
  expect(await barriers(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('heading', { name: 'Newsletter', level: 1 }).waitFor()
}

async function sendTest(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Send test email' }).click()
  await dialog.getByRole('button', { name: 'Send test email' }).click()
  await dialog.getByRole('status').getByText('Sent', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
}

async function publish(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Publish' }).click()
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('Version 1', { exact: true }).waitFor()
}

/** Schedules a broadcast to everybody for tomorrow; then there is no reason to wait. */
async function sendBroadcast(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  await goTo(page, 'Broadcasts')
  await page.getByRole('button', { name: 'Create broadcast' }).first().click()
  await dialog.getByLabel('Name').fill('May news')
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.getByRole('heading', { name: 'May news', level: 1 }).waitFor()
  await choose(page, 'Flow', 'Newsletter')
  await choose(page, 'Send to', 'All subscribed contacts')
  await page.getByRole('status', { name: 'Recipients' }).filter({ hasText: '3 recipients' }).waitFor()
  await page.getByRole('radio', { name: 'At a set time' }).check()
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16)
  await page.getByLabel('Date and time').fill(tomorrow)
  const panel = page.getByRole('region', { name: 'Before sending' })
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByRole('button', { name: 'Schedule for 3 recipients' }).click()
  // The links lead to this machine, so both ways to send it ask for a typed confirmation.
  const insist = async (action: string) => {
    await dialog.getByText('Fix before sending').waitFor()
    const button = dialog.getByRole('button', { name: action })
    expect(await button.isDisabled()).toBe(true)
    await dialog.getByLabel('Type “send anyway”').fill('Send anyway')
    await button.click()
  }
  await insist('Schedule for 3 recipients')
  await page.getByRole('status').filter({ hasText: 'It starts' }).waitFor()
  await page.getByRole('button', { name: 'Send now' }).click()
  await insist('Send to 3 recipients')
  await page.getByText(/^Sent to 3, /).waitFor()
}

/** Ada opens her email: her program loads all of its images. A scanner opens the email to Grace, which does not count. */
async function openEmails(relay: TestRelay): Promise<void> {
  await until('the emails', () => relay.mails.length === 1 + readers.length)
  const { mail } = relay.mails.find(({ recipient }) => recipient === 'ada@example.com')!
  expect(mail.html).toContain('alt="A beach at sunset"')
  const images = [...mail.html!.matchAll(/<img[^>]* src="([^"]+)"/g)].map(([, url]) => url!.replaceAll('&amp;', '&'))
  const loaded = await Promise.all(images.map((url) => fetch(url, { headers: person })))
  const widths = await Promise.all(
    loaded.map(async (image) => (await sharp(Buffer.from(await image.arrayBuffer())).metadata()).width),
  )
  expect(widths.sort((a, b) => a - b)).toEqual([1, 120, 1_200])
  const other = relay.mails.find(({ recipient }) => recipient === 'grace@example.com')!.mail
  await fetch(/<img[^>]* src="([^"]+\/t\/o\/[^"]+)"/.exec(other.html!)![1]!, {
    headers: { 'user-agent': 'Mozilla/5.0' },
  })
}

/** The lists of broadcasts, messages and events show the same as the results. */
async function readLists(page: Page): Promise<void> {
  await goTo(page, 'Broadcasts')
  const row = page.getByRole('row').filter({ hasText: 'May news' })
  await row.getByRole('link', { name: 'Opened: 33.3%' }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await goTo(page, 'Messages')
  const stateOf = (name: string) => page.getByRole('row').filter({ hasText: `to ${name}@example.com` })
  await stateOf('ada').getByText('Opened', { exact: true }).waitFor()
  await stateOf('grace').getByText('Delivered', { exact: true }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await choose(page, 'Status', 'Not opened')
  await stateOf('ada').waitFor({ state: 'hidden' })
  expect(await page.getByText(/^to \w+@example\.com$/).allInnerTexts()).toHaveLength(2)
  await choose(page, 'Date', 'Today')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('messages.csv')
  await goTo(page, 'Contacts')
  await page.getByRole('link', { name: 'ada@example.com' }).click()
  const card = page.getByRole('list', { name: 'What happened' })
  await expect.poll(() => card.getByRole('listitem').count()).toBe(2)
  expect(await card.innerText()).toMatch(/Sent[\s\S]*Opened/)
  expect(await barriersInBothThemes(page)).toEqual([])
}

test.each(sizes)(
  'someone who knows no HTML writes, tests, schedules and sends a newsletter with a picture, and reads who opened it (%s)',
  { timeout: longTestMsMax.manyPages },
  async (size) => {
    await using relay = await startRelay()
    const account = await registerOwner(service)
    const post = (path: string, body: object) => service.manage(account.session, 'POST', `/organization${path}`, body)
    await post('/mail-servers', { name: 'Main', url: relay.url })
    for (const name of readers) await post('/contacts', { email: `${name}@example.com`, first_name: name })
    await using tab = await openTab(browser, service, { size, account })
    const { page } = tab
    await setBrand(page)

    await writeEmail(page)
    await sendTest(page)
    const tested = await until('the test email', () => relay.mails[0])
    expect([tested.recipient, tested.mail.subject]).toEqual([account.email, '[Test] Summer news'])
    await publish(page)

    await sendBroadcast(page)
    const hours = page.getByRole('region', { name: 'First 48 hours' })
    await hours.getByText('No opens or clicks yet').waitFor()
    await page.getByText('Sent', { exact: true }).first().waitFor()

    await openEmails(relay)

    // All figures of the page follow without a reload.
    const recipients = page.getByRole('table', { name: 'Recipients' })
    await hours.getByText('No opens or clicks yet').waitFor({ state: 'hidden' })
    await recipients.getByText('Opened', { exact: true }).waitFor()
    const opened = page.getByRole('link', { name: /^Opened/ })
    await opened.filter({ hasText: '33.3%' }).click()
    await recipients.getByRole('link', { name: 'ada@example.com' }).waitFor()
    await recipients.getByText('grace@example.com').waitFor({ state: 'hidden' })
    expect(await recipients.getByText('@example.com').allInnerTexts()).toEqual(['ada@example.com'])

    await readLists(page)
    expect(tab.problems).toEqual([])
  },
)
