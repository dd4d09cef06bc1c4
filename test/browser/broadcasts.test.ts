import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { goTo, openTab, sizes } from './support/pages.ts'
import { type Account, registerOwner, type Service, startService } from './support/service.ts'

const newsletter = {
  name: 'Newsletter',
  kind: 'marketing',
  subject: 'News about {{ topic }}',
  html: '<p>News about {{ topic }}. <a href="https://example.com/news">Read more</a></p>',
}
/** Its first version reads a variable that the current one does not. */
const firstEdition = { ...newsletter, subject: '{{ edition }}: news about {{ topic }}' }
const people = ['ada', 'bob', 'carol', 'dan', 'eve']

const lookSubject = 'Look: {{ topic }}, {{ offer }}!'

const browser = await sharedBrowser()

/** A flow with two versions, and a group of five of whom one unsubscribed. */
async function fill({ manage }: Service, { session }: Account): Promise<void> {
  const make = async (path: string, body: object) => (await manage(session, 'POST', path, body)).body.data
  const flow = await make('/organization/flows', firstEdition)
  await manage(session, 'PATCH', `/organization/flows/${flow.id}`, { subject: newsletter.subject })
  const group = await make('/organization/groups', { name: 'Readers' })
  const ids: string[] = []
  for (const name of people) ids.push((await make('/organization/contacts', { email: `${name}@example.com` })).id)
  await make(`/organization/groups/${group.id}/members`, { contact_ids: ids })
  await manage(session, 'PATCH', `/organization/contacts/${ids[0]}`, { status: 'unsubscribed' })
}

async function createDraft(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Create broadcast' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

async function choose(page: Page, field: string, option: string, within: Page | Locator = page): Promise<void> {
  await within.getByRole('combobox', { name: field }).click()
  await page.getByRole('option', { name: option }).click()
  await page.keyboard.press('Escape')
}

test.each(sizes)(
  'a broadcast is drafted, checked, tested, scheduled, started and reported (%s)',
  async (size) => {
    await using service = await startService()
    const account = await registerOwner(service)
    await fill(service, account)
    await using tab = await openTab(browser, service, { size, account })
    const { page } = tab
    await page.goto('')
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await goTo(page, 'Broadcasts')
    await createDraft(page, 'May news')

    await choose(page, 'Flow', 'Newsletter')
    await page.getByLabel('topic').fill('birds')
    await choose(page, 'Send to', 'Readers (5)')
    const panel = page.getByRole('region', { name: 'Before sending' })
    await panel.getByRole('button', { name: 'Check recipients' }).click()
    const result = panel.getByRole('status')
    await result.waitFor()
    expect((await result.innerText()).replaceAll(/\s+/g, ' ')).toContain('Unsubscribed − 1')
    expect((await result.innerText()).replaceAll(/\s+/g, ' ')).toContain('Recipients 4')

    await panel.getByRole('button', { name: 'Send test email' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send test email' }).click()
    await page.getByRole('dialog').getByText('Queued for sending').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

    // Scheduled for next year, then cancelled and duplicated to be sent now.
    await page.getByRole('radio', { name: 'At a time' }).check()
    await page.getByLabel('Date and time').fill(`${new Date().getFullYear() + 1}-06-01T09:00`)
    await panel.getByRole('button', { name: 'Check recipients' }).click()
    await panel.getByRole('button', { name: 'Schedule for 4 recipients' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule for 4 recipients' }).click()
    await page.getByRole('status').filter({ hasText: 'It starts' }).waitFor()
    await page.getByRole('button', { name: 'Cancel broadcast' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel broadcast' }).click()
    await page.getByRole('status').filter({ hasText: 'Nothing was sent' }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { name: 'Copy of May news', level: 1 }).waitFor()

    // Half of the recipients get two variants, and the others the one that is chosen.
    await page.getByRole('switch', { name: 'Compare variants' }).click()
    await page.getByLabel('Size of the sample').fill('50')
    await choose(page, 'Winner', 'You choose it')
    await panel.getByRole('button', { name: 'Check recipients' }).click()
    const variant = page.getByRole('group', { name: 'Variant B' })
    await variant.getByText('must not be empty').waitFor()
    await variant.getByLabel('Subject').fill('Look: {{ topic }}, {{ offer }}')
    await panel.getByRole('button', { name: 'Check recipients' }).click()
    await panel.getByText('4 recipients lack a variable').waitFor()

    // Variables that only a variant reads have fields as well, and keep their values while the variant is edited.
    const offer = page.getByLabel('offer')
    await offer.fill('ten percent off')
    await variant.getByLabel('Subject').fill('Look: {{ topic }}, {{ offer }} {{')
    await choose(page, 'Content', 'The flow as it is', variant)
    await offer.waitFor({ state: 'hidden' })
    await choose(page, 'Content', 'Another subject', variant)
    await variant.getByLabel('Subject').fill(lookSubject)
    expect(await offer.inputValue()).toBe('ten percent off')
    const first = page.getByRole('group', { name: 'Variant A' })
    await choose(page, 'Content', 'Another version of the flow', first)
    await choose(page, 'Version', 'Version 1', first)
    await page.getByLabel('edition').fill('May')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Draft saved.').waitFor()
    await page.reload()
    const values = ['topic', 'edition', 'offer'].map((name) => page.getByLabel(name, { exact: true }).inputValue())
    expect(await Promise.all(values)).toEqual(['birds', 'May', 'ten percent off'])
    await panel.getByRole('button', { name: 'Check recipients' }).click()
    await panel.getByRole('button', { name: 'Start for 4 recipients' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('4 recipients').first().waitFor()
    await dialog.getByRole('button', { name: 'Send to 4 recipients' }).click()
    await page.getByRole('region', { name: 'Progress' }).getByText('2 of 4 recipients').waitFor()
    await page.getByRole('button', { name: 'Choose variant B' }).click()
    await dialog.getByRole('button', { name: 'Send to the others' }).click()
    await page.getByRole('region', { name: 'Progress' }).getByText('4 of 4 recipients').waitFor()
    const winner = page.getByRole('table', { name: 'Variants' }).getByRole('row').filter({ hasText: 'Winner' })
    expect(await winner.innerText()).toContain(lookSubject)
    await page.getByText('Sent', { exact: true }).first().waitFor()
    const recipients = page.getByRole('table', { name: 'Recipients' })
    await until('all recipients', async () => (await recipients.getByText('Sent', { exact: true }).count()) === 4)
    expect(await recipients.innerText()).not.toContain('ada@example.com')

    const listed = await service.manage(account.session, 'GET', '/organization/messages?is_test=false')
    const subjects = listed.body.data.map(({ subject }: { subject: string }) => subject)
    expect(subjects.sort()).toEqual([...Array(3).fill('Look: birds, ten percent off!'), 'May: news about birds'])

    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('Copy-of-May-news.csv')
    expect(tab.problems).toEqual([])
  },
  600_000,
)
