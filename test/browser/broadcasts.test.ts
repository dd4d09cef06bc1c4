import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startRelay } from '../support/relay.ts'
import { longTestMsMax } from '../support/time-limits.ts'
import { until } from '../support/until.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { choose, chooseAction, goTo, openTab } from './support/pages.ts'
import {
  type Account,
  organizationApi,
  registerOwner,
  type Service,
  startService,
  startSharedService,
} from './support/service.ts'

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

/** Everybody may register, and then use any sender. */
const openToAll = { SIGNUP: 'open', SIGNUPS_PER_HOUR: '0', REQUIRE_VERIFIED_DOMAINS: 'false' }

const browser = await sharedBrowser()
const service = await startSharedService()

/** A flow with two versions, and a group of five of whom one unsubscribed. */
async function fill(service: Service, account: Account): Promise<void> {
  const manage = organizationApi(service, account)
  const flow = await manage('POST', '/flows', firstEdition)
  await manage('PATCH', `/flows/${flow.id}`, { subject: newsletter.subject })
  const group = await manage('POST', '/groups', { name: 'Readers' })
  const ids: string[] = []
  for (const name of people) ids.push((await manage('POST', '/contacts', { email: `${name}@example.com` })).id)
  await manage('POST', `/groups/${group.id}/members`, { contact_ids: ids })
  await manage('PATCH', `/contacts/${ids[0]}`, { status: 'unsubscribed' })
}

async function createDraft(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Create broadcast' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

/** Creates a draft with content, to a group of four readers and one who unsubscribed. */
async function fillDraft(page: Page): Promise<void> {
  await page.goto('')
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await goTo(page, 'Broadcasts')
  await createDraft(page, 'May news')
  await choose(page, 'Flow', 'Newsletter')
  await page.getByLabel('topic').fill('birds')
  await choose(page, 'Send to', 'Readers (5)')
}

/** The recipients are counted while the audience is composed. */
async function changeAudience(page: Page): Promise<void> {
  const counted = page.getByRole('status', { name: 'Recipients' })
  await counted.filter({ hasText: '4 recipients. Left out: 1 unsubscribed.' }).waitFor()
  await choose(page, 'Send to', 'All subscribed contacts')
  await counted.filter({ hasText: /^4 recipients\.$/ }).waitFor()
  await choose(page, 'Send to', 'Readers (5)')
  await counted.filter({ hasText: '1 unsubscribed' }).waitFor()
}

/** The email is beside the draft, as one of the four subscribed readers would get it. */
async function previewEmail(page: Page): Promise<void> {
  const email = page.getByRole('region', { name: 'Email' })
  await email.getByText('News about birds', { exact: true }).waitFor()
  const frame = email.frameLocator('iframe')
  await frame.getByText('News about birds.').waitFor()
  const shown = () => email.getByRole('combobox', { name: 'Recipient' }).inputValue()
  await until('a recipient', async () => ['bob@example.com', 'carol@example.com'].includes(await shown()))
  // A search keeps the name of who is shown.
  const automatic = await shown()
  await email.getByRole('combobox', { name: 'Recipient' }).fill('eve')
  await page.getByRole('option', { name: 'eve@example.com' }).waitFor()
  await expect.poll(() => page.getByRole('option').allInnerTexts()).toEqual([automatic, 'eve@example.com'])
  await page.keyboard.press('Escape')
}

/** What is missing or has passed is reported at once. */
async function enterInvalidTimes(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Before sending' })
  await page.getByLabel('Only on certain days and hours').check()
  for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']) await page.getByText(day, { exact: true }).click()
  await panel.getByText('Choose at least one day.', { exact: true }).waitFor()
  await page.getByLabel('Only on certain days and hours').uncheck()
  await page.getByRole('radio', { name: 'At a set time' }).check()
  await panel.getByText('Choose a date and time.', { exact: true }).waitFor()
  expect(await panel.getByRole('button', { name: 'Check recipients' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect.poll(() => page.getByLabel('Date and time').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Date and time').fill('2026-01-05T09:00')
  await page.getByText('Choose a time in the future.', { exact: true }).waitFor()
  expect(await panel.getByRole('button', { name: 'Check recipients' }).isDisabled()).toBe(true)
}

test('a broadcast is drafted, checked, tested, scheduled, cancelled and duplicated', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await fillDraft(page)
  await changeAudience(page)
  await previewEmail(page)
  const panel = page.getByRole('region', { name: 'Before sending' })
  // The message is gone after a few seconds.
  const saved = page.getByText('Draft saved.').waitFor()
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await saved
  const result = panel.getByRole('status')
  await result.waitFor()
  expect((await result.innerText()).replaceAll(/\s+/g, ' ')).toContain('Unsubscribed − 1')
  expect((await result.innerText()).replaceAll(/\s+/g, ' ')).toContain('Recipients who will get it 4')

  await panel.getByRole('button', { name: 'Send test email' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send test email' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'View delivery' }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

  // For next month.
  await enterInvalidTimes(page)
  const planned = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 16)
  await page.getByLabel('Date and time').fill(planned)
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByRole('button', { name: 'Schedule for 4 recipients' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('list', { name: 'Plan' }).getByText('4 recipients').waitFor()
  expect(await dialog.innerText()).toContain('“News about birds” (as the first recipient gets it)')
  expect(await dialog.innerText()).toContain('1 unsubscribed')
  await dialog.getByRole('button', { name: 'Schedule for 4 recipients' }).click()
  await page.getByRole('status').filter({ hasText: 'It starts' }).waitFor()
  await page.getByRole('button', { name: 'Cancel broadcast' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel broadcast' }).click()
  await page.getByRole('status').filter({ hasText: 'Nothing was sent' }).waitFor()
  await chooseAction(page, 'Duplicate')
  await page.getByRole('heading', { name: 'Copy of May news', level: 1 }).waitFor()
  expect(await page.getByLabel('Date and time').inputValue()).toBe(planned)
  await page.getByRole('radio', { name: 'Now' }).check()
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByRole('button', { name: 'Start for 4 recipients' }).waitFor()
  expect(tab.problems).toEqual([])
})

/** Half of the recipients get two variants, and the others the one that is chosen. */
async function addVariants(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Before sending' })
  await page.getByRole('switch', { name: 'Compare variants' }).click()
  await page.getByLabel('Size of the sample').fill('50')
  await choose(page, 'Winner', 'You choose it')
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  const variant = page.getByRole('group', { name: 'Variant B' })
  await variant.getByText('must not be empty').waitFor()
  await variant.getByLabel('Subject').fill('Look: {{ topic }}, {{ offer }}')
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByText('is missing for all 4').waitFor()
  expect(await panel.getByRole('button', { name: 'Start for 0 recipients' }).isDisabled()).toBe(true)
}

/** Variables that only a variant reads have fields as well, and keep their values while the variant is edited. */
async function editVariants(page: Page): Promise<void> {
  const variant = page.getByRole('group', { name: 'Variant B' })
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
  // Not the button alone: it is disabled from the click on, and a reload would cancel the request.
  const stored = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok())
  await page.getByRole('button', { name: 'Save draft' }).click()
  await stored
  await page.reload()
  const values = ['topic', 'edition', 'offer'].map((name) => page.getByLabel(name, { exact: true }).inputValue())
  expect(await Promise.all(values)).toEqual(['birds', 'May', 'ten percent off'])
}

/** Sends the sample, and then variant B to the others. */
async function sendVariants(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Before sending' })
  const dialog = page.getByRole('dialog')
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByRole('button', { name: 'Start for 4 recipients' }).click()
  const steps = dialog.getByRole('list', { name: 'Plan' }).getByRole('listitem')
  expect(await steps.allInnerTexts()).toEqual([
    expect.stringMatching(/^Now\s+a sample of 2 recipients \(50%\) gets one of 2 variants$/i),
    expect.stringMatching(/^When you choose\s+the other 2 recipients get the winner$/i),
  ])
  await dialog.getByRole('button', { name: 'Send to 2 recipients' }).click()
  await page.getByRole('region', { name: 'Progress' }).getByText('2 of 4 recipients').waitFor()
  await page.getByText('Waiting for the winner').first().waitFor()
  await page.getByRole('button', { name: 'Choose variant B' }).click()
  await dialog.getByRole('button', { name: 'Send to the others' }).click()
  await page.getByText(/^Sent to 4, /).waitFor()
  const winner = page.getByRole('table', { name: 'Variants' }).getByRole('row').filter({ hasText: 'Winner' })
  expect(await winner.innerText()).toContain(lookSubject)
  await page.getByText('The others got variant B.').waitFor()
}

test('two variants are compared, and the chosen one is sent to the other recipients', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await fillDraft(page)
  await addVariants(page)
  await editVariants(page)
  await sendVariants(page)
  const recipients = page.getByRole('table', { name: 'Recipients' })
  await until('all recipients', async () => (await recipients.getByText('Delivered', { exact: true }).count()) === 4)
  expect(await recipients.innerText()).not.toContain('ada@example.com')

  // A number of a variant leads to its people in the sample.
  await page.getByRole('link', { name: 'Sent of variant A: 1', exact: true }).click()
  await expect.poll(() => recipients.getByRole('row').count()).toBe(2)
  const variantFilter = page.getByRole('combobox', { name: 'Variant' })
  expect(await variantFilter.inputValue()).toBe('Variant A (sample)')
  await page.goBack()

  // The email beside the results is that of a recipient, in either variant.
  const email = page.getByRole('region', { name: 'Email' })
  await email.getByText('Variant A', { exact: true }).click()
  await email.getByText('May: news about birds', { exact: true }).waitFor()
  await page.getByText('too few people to tell').first().waitFor()

  const listed = await service.manage(account.session, 'GET', '/organization/messages?is_test=false')
  const subjects = listed.body.data.map(({ subject }: { subject: string }) => subject)
  expect(subjects.sort()).toEqual([...Array(3).fill('Look: birds, ten percent off!'), 'May: news about birds'])

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('May-news.csv')
  expect(tab.problems).toEqual([])
})

test('a transactional flow is sent as a service announcement by an owner who types how many unsubscribed people get it', async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  const { manage } = service
  const terms = { name: 'New terms', kind: 'transactional', subject: 'Our terms change', html: '<p>Read them.</p>' }
  await manage(account.session, 'POST', '/organization/flows', terms)
  const invitation = { email: 'eve@acme.example', role: 'member', send_email: false }
  const { token } = (await manage(account.session, 'POST', '/organization/invitations', invitation)).body.data
  const accepted = await manage('', 'POST', '/auth/accept-invitation', { token, password: account.password })
  const member = { email: 'eve@acme.example', password: account.password, session: accepted.body.data.token }
  const memberPath = `/organization/members/${accepted.body.data.user.id}`
  await manage(account.session, 'PATCH', memberPath, { can_start_broadcasts: true })

  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('broadcasts')
  await createDraft(page, 'Terms')
  await choose(page, 'Flow', 'New terms')
  await page.getByText('This flow is transactional').waitFor()
  await choose(page, 'Send to', 'Readers (5)')
  const panel = page.getByRole('region', { name: 'Before sending' })
  expect(await panel.getByRole('button', { name: 'Check recipients' }).isDisabled()).toBe(true)
  await page.getByLabel('This is a service announcement').check()
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByText('It also goes to 1 person who unsubscribed').waitFor()

  await using other = await openTab(browser, service, { account: member })
  await other.page.goto(new URL(page.url()).pathname.slice(1))
  await other.page.getByText('Only owners can start a service announcement.').waitFor()

  await panel.getByRole('button', { name: 'Start for 5 recipients' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('1 person who unsubscribed will get this email').waitFor()
  const send = dialog.getByRole('button', { name: 'Send to 5 recipients' })
  await dialog.getByLabel('Type 1 to confirm').fill('5')
  expect(await send.isDisabled()).toBe(true)
  await dialog.getByLabel('Type 1 to confirm').fill('1')
  await send.click()
  await page.getByText(/^Sent to 5, /).waitFor()
  await page.getByRole('table', { name: 'Recipients' }).getByText('ada@example.com').waitFor()
  expect([...tab.problems, ...other.problems]).toEqual([])
})

test('blockers are red, separate from suggestions, and a start in spite of them is typed', async () => {
  await using relay = await startRelay()
  const settings = { ...openToAll, SMTP_URL: relay.url, ALLOWED_SENDER_DOMAINS: 'acme.example' }
  await using own = await startService({ settings })
  const account = await registerOwner(own)
  await fill(own, account)
  const [flow] = (await own.manage(account.session, 'GET', '/organization/flows')).body.data
  const sendAs = (from_email: string | null) =>
    own.manage(account.session, 'PATCH', `/organization/flows/${flow.id}`, { from_email })
  await using tab = await openTab(browser, own, { account })
  const { page } = tab
  await page.goto('flows')
  await page.getByRole('link', { name: 'Newsletter' }).first().click()
  await page.getByRole('link', { name: 'Edit' }).first().click()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText('Fix before sending').waitFor()
  await preview.getByText('which other people cannot open', { exact: false }).waitFor()
  await preview.getByText('1 suggestion', { exact: true }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])

  await page.goto(new URL('broadcasts', own.url).href)
  await createDraft(page, 'May news')
  await choose(page, 'Flow', 'Newsletter')
  await page.getByLabel('topic').fill('birds')
  await choose(page, 'Send to', 'Readers (5)')
  const panel = page.getByRole('region', { name: 'Before sending' })
  const blockers = panel.locator('[data-tone=bad]')
  const dialog = page.getByRole('dialog')
  const send = dialog.getByRole('button', { name: 'Send to 4 recipients' })
  const confirmation = dialog.getByLabel('Type “send anyway” to send it')
  await sendAs('hi@acme.example')
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await blockers.getByText('Set it under Brand', { exact: false }).waitFor()
  expect(await blockers.getByRole('listitem').count()).toBe(2)
  const suggestions = panel.locator('[data-tone=warn]')
  expect(await suggestions.innerText()).toMatch(/^1 suggestion\s.*leads to a test address/)

  // Only the blockers that were shown are accepted.
  await panel.getByRole('button', { name: 'Start for 4 recipients' }).click()
  await confirmation.fill('send anyway')
  await sendAs(null)
  await send.click()
  await dialog
    .getByText('The broadcast was not started. The email leaves as hello@localhost', { exact: false })
    .waitFor()
  await dialog.getByRole('button', { name: 'Not yet' }).click()
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await blockers.getByText('The email leaves as hello@localhost', { exact: false }).waitFor()
  expect(await blockers.getByRole('listitem').count()).toBe(3)
  await panel.getByRole('button', { name: 'Start for 4 recipients' }).click()
  await confirmation.fill('send')
  expect(await send.isDisabled()).toBe(true)
  expect(relay.mails).toEqual([])
  expect(await barriersInBothThemes(page)).toEqual([])
  await confirmation.fill('send anyway')
  await send.click()
  await page.getByText(/^Sent to 4, /).waitFor()
  expect(relay.mails).toHaveLength(4)
  expect(tab.problems).toEqual([])
})

test('a broadcast that waits says at its top for what, and until when', async () => {
  await using relay = await startRelay()
  relay.onData = () => ({ code: 451, text: '4.7.1 try later, greylisted' })
  const settings = { ...openToAll, SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '50,50' }
  await using own = await startService({ settings })
  const account = await registerOwner(own)
  await fill(own, account)
  const { manage } = own
  const list = async (path: string) => (await manage(account.session, 'GET', path)).body.data
  const [[flow], [group]] = await Promise.all([list('/organization/flows'), list('/organization/groups')])
  const content = { name: 'May news', flow_id: flow.id, audience: { group_ids: [group.id] }, context: { topic: 'x' } }
  const { id } = (await manage(account.session, 'POST', '/organization/broadcasts', content)).body.data
  await manage(account.session, 'POST', `/organization/broadcasts/${id}/start`, {})
  await using tab = await openTab(browser, own, { account })
  const { page } = tab
  await page.goto(`broadcasts/${id}`)
  const notice = page.locator('[data-tone=warn]').filter({ hasText: '4 deferred' })
  await notice.waitFor()
  expect(await notice.innerText()).toMatch(
    /^4 deferred: 451 4\.7\.1 try later, greylisted\s+Next attempt (in \d+ seconds|in 1 minute|in a moment)\.$/,
  )
  expect(await barriersInBothThemes(page)).toEqual([])

  await own.db.statement`insert into sending_pause (reason) values ('operator')`
  await page.getByText('All sending is paused').waitFor()
  await notice.waitFor({ state: 'detached' })
  await own.db.statement`delete from sending_pause`
  await notice.waitFor()
  // Once they are accepted, nothing is left to say.
  relay.onData = () => undefined
  await own.db.statement`update jobs set due_at = now() where kind = 'message.send'`
  await own.db.statement`update lanes set next_due_at = now() where kind = 'message.send'`
  await page.getByText(/^Sent to 4, /).waitFor()
  expect(await notice.count()).toBe(0)
  expect(tab.problems).toEqual([])
})

test('the start dialog names the rate, and a cancelled broadcast shows how many were sent', async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('broadcasts')
  await createDraft(page, 'Slow news')
  await choose(page, 'Flow', 'Newsletter')
  await page.getByLabel('topic').fill('birds')
  await choose(page, 'Send to', 'Readers (5)')
  await page.getByLabel('Maximum emails per hour').fill('2')
  const panel = page.getByRole('region', { name: 'Before sending' })
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByRole('button', { name: 'Start for 4 recipients' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('At most 2 emails per hour').waitFor()
  // One at once, and one every half hour.
  expect(await dialog.innerText()).toMatch(/Now\s+4 recipients\s[\s\S]*Done\s+About \w+ \d+, \d\d:\d\d/)
  await dialog.getByRole('button', { name: 'Send to 4 recipients' }).click()
  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByText('1 of 4 recipients').waitFor()
  await page.getByRole('button', { name: 'Cancel broadcast' }).click()
  await dialog.getByRole('button', { name: 'Cancel broadcast' }).click()
  await page.getByText('1 of 4 recipients got the email before.').waitFor()
  expect(await progress.count()).toBe(0)
  expect(tab.problems).toEqual([])
})

test('a scheduled broadcast is edited, moved and sent now', async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  const { manage } = service
  const make = async (path: string, body: object) => (await manage(account.session, 'POST', path, body)).body.data
  const list = async (path: string) => (await manage(account.session, 'GET', path)).body.data
  await manage(account.session, 'PATCH', '/organization', { timezone: 'Asia/Tokyo' })
  const [flow] = await list('/organization/flows')
  const [group] = await list('/organization/groups')
  const { id } = await make('/organization/broadcasts', {
    name: 'June news',
    flow_id: flow.id,
    audience: { group_ids: [group.id] },
    context: { topic: 'birds' },
    schedule: { at: new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16), time_zone: 'UTC' },
  })
  await make(`/organization/broadcasts/${id}/schedule`, {})
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab
  await page.goto(`broadcasts/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByText('This broadcast is scheduled').waitFor()
  await page.getByRole('status', { name: 'Recipients' }).filter({ hasText: '4 recipients' }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await page.getByLabel('Subject', { exact: true }).fill('Other news about {{ topic }}')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved.').waitFor()
  // Neither the link nor the back button drops changes without a question.
  const dialog = page.getByRole('dialog')
  await page.getByLabel('Name').fill('July news')
  await page.getByRole('link', { name: 'Stop editing' }).click()
  await dialog.getByText('Leave without saving?').waitFor()
  await dialog.getByRole('button', { name: 'Stay' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.goBack()
  await dialog.getByText('Leave without saving?').waitFor()
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'June news', level: 1 }).waitFor()

  await page.getByRole('button', { name: 'Move' }).click()
  const moved = `${new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)}T09:30`
  await dialog.getByLabel('Date and time').fill('2026-01-05T09:00')
  await dialog.getByText('Choose a time in the future.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Move' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Date and time').fill(moved)
  await dialog.getByRole('button', { name: 'Move' }).click()
  await page.getByText('Broadcast moved.').waitFor()
  expect(await list(`/organization/broadcasts/${id}`)).toMatchObject({
    status: 'scheduled',
    subject: 'Other news about {{ topic }}',
    starts_at: `${moved}:00.000Z`,
  })

  // In the list as well, in the time zone of the organization.
  await page.goto('broadcasts')
  await page.getByText('18:30 (Asia/Tokyo)').waitFor()
  await page.getByRole('link', { name: 'June news' }).click()
  await page.getByRole('status').getByText('18:30 (Asia/Tokyo)').waitFor()
  await page.getByRole('button', { name: 'Send now' }).click()
  await dialog.getByText('“Other news about birds”').waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Send to 4 recipients' }).click()
  await page.getByText(/^Sent to 4, /).waitFor()
  expect(tab.problems).toEqual([])
})

test('an error of the check disappears with its cause, and a test email needs no date', async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('broadcasts')
  await createDraft(page, 'May news')
  await choose(page, 'Flow', 'Newsletter')
  await page.getByLabel('topic').fill('birds')
  await choose(page, 'Send to', 'Readers (5)')
  const panel = page.getByRole('region', { name: 'Before sending' })
  const subject = page.getByLabel('Subject', { exact: true })
  await subject.fill('News for {{ contact.mail }}')
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  const error = panel.getByText('There is no contact.mail', { exact: false })
  await error.waitFor()
  expect(await page.getByText('Nobody in the audience yet').count()).toBe(0)
  await subject.fill('News for {{ contact.email }}')
  await error.waitFor({ state: 'hidden' })

  await page.getByRole('radio', { name: 'At a set time' }).check()
  await panel.getByText('Choose a date and time.').waitFor()
  expect(await panel.getByRole('button', { name: 'Check recipients' }).isDisabled()).toBe(true)
  await panel.getByRole('button', { name: 'Send test email' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Send test email' }).click()
  await dialog.getByRole('status').getByText('Sent', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  // The rest was saved, and the choice is kept.
  const [stored] = (await service.manage(account.session, 'GET', '/organization/broadcasts')).body.data
  expect(stored).toMatchObject({ subject: 'News for {{ contact.email }}', schedule: { at: null } })
  await panel.getByText('Choose a date and time.').waitFor()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('region', { name: 'Schedule' }).getByText('Choose a date and time.').waitFor()
  expect(tab.problems).toEqual([])
})

test('of two people who edit a broadcast, the second one to save decides what stays', async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  const { data } = (await service.manage(account.session, 'POST', '/organization/broadcasts', { name: 'May news' }))
    .body
  const path = `/organization/broadcasts/${data.id}`
  const change = (changes: object) => service.manage(account.session, 'PATCH', path, changes)
  const stored = async () => (await service.manage(account.session, 'GET', path)).body.data
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto(`broadcasts/${data.id}`)
  const [name, subject] = [page.getByLabel('Name'), page.getByLabel('Subject', { exact: true })]
  const save = page.getByRole('button', { name: 'Save draft' })
  const notice = page.getByRole('alert').filter({ hasText: 'Someone else changed this broadcast' })
  await subject.fill('Mine')
  await change({ subject: 'Theirs', name: 'Their name' })
  await save.click()
  await notice.waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  expect(await subject.inputValue()).toBe('Mine')
  await notice.getByRole('button', { name: 'Save my changes anyway' }).click()
  await notice.waitFor({ state: 'hidden' })
  await expect.poll(stored).toMatchObject({ subject: 'Mine', name: 'Their name' })
  await expect.poll(() => name.inputValue()).toBe('Their name')

  await subject.fill('Mine again')
  await change({ subject: 'Theirs again' })
  await save.click()
  await notice.getByRole('button', { name: 'Discard my changes' }).click()
  await notice.waitFor({ state: 'hidden' })
  await expect.poll(() => subject.inputValue()).toBe('Theirs again')
  expect(await save.isDisabled()).toBe(true)
  expect(tab.problems.filter((problem) => !problem.includes('409'))).toEqual([])
})
