import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { recordPausedWebhook } from '../../src/operations/notices/notices.ts'
import { type OrganizationId, parseId } from '../../src/platform/values/ids.ts'
import { startRelay } from '../support/relay.ts'
import { until } from '../support/until.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { hold, openTab, segment } from './support/pages.ts'
import { join } from './support/people.ts'
import { organizationApi, registerOwner, startService, startSharedService } from './support/service.ts'

// Well before the regular refetch of the statistics.
const soonMs = 12_000

const browser = await sharedBrowser()
const service = await startSharedService()

test('a custom range can be chosen repeatedly', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  for (const [from, to, shown] of [
    ['2024-01-01', '2024-01-10', 'Jan 1, 2024 to Jan 10, 2024'],
    ['2024-02-01', '2024-02-05', 'Feb 1, 2024 to Feb 5, 2024'],
  ] as const) {
    await segment(page, 'Range', 'Custom').click()
    await page.getByLabel('From').fill(from)
    await page.getByRole('dialog').getByLabel(/^To/).fill(to)
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(shown).waitFor()
    await page.getByLabel('From').waitFor({ state: 'hidden' })
  }
  // The keyboard opens and closes it too.
  await page.getByRole('radio', { name: 'Custom' }).press('Space')
  await page.getByLabel('From').waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('From').waitFor({ state: 'hidden' })
  expect(tab.problems).toEqual([])
})

test('while another range is loading, the old statistics are marked as busy', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  await page.getByText('the previous 30 days').waitFor()
  const goOn = await hold(page, '**/organization/overview?*')
  await segment(page, 'Range', '90 days').click()
  const busy = page.locator('[aria-busy="true"]')
  await busy.getByText('the previous 30 days').waitFor()
  await goOn()
  await page.getByText('the previous 90 days').waitFor()
  await expect.poll(() => busy.count()).toBe(0)
})

test('the range and the chosen statistic survive a reload and the back button', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  await segment(page, 'Range', '7 days').click()
  await page.getByText('the previous 7 days').waitFor()
  await page.getByRole('button', { name: /^Clicked/ }).click()
  await page.reload()
  await page.getByText('the previous 7 days').waitFor()
  await page.getByRole('heading', { name: 'Clicked by day' }).waitFor()

  await segment(page, 'Range', 'Custom').click()
  await page.getByLabel('From').fill('2024-01-01')
  await page.getByRole('dialog').getByLabel(/^To/).fill('2024-01-10')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Jan 1, 2024 to Jan 10, 2024').waitFor()
  await page.getByRole('link', { name: 'All activity' }).click()
  await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor()
  await page.goBack()
  await page.getByText('Jan 1, 2024 to Jan 10, 2024').waitFor()
  await page.getByRole('heading', { name: 'Clicked by day' }).waitFor()
  expect(await page.getByRole('radio', { name: 'Custom' }).isChecked()).toBe(true)

  // Invalid parameters fall back to the defaults.
  await page.goto('?from=yesterday&to=2024-01-10&figure=luck')
  await page.getByText('the previous 30 days').waitFor()
  await page.getByRole('heading', { name: 'Sent by day' }).waitFor()
})

test('changes compare rates with rates and counts with counts', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  // Twice as many emails, with a higher open rate, a lower bounce rate and the first complaints.
  await page.route('**/organization/overview?*', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const figures = (sent: number, opened: number, bounced: number, complaints: number) => ({
      ...body.data.totals,
      ...{ sent, delivered: sent - bounced, bounced },
      emailOpen: { total: opened, unique: opened, machine: 0 },
      emailComplaint: { total: complaints, unique: complaints, machine: 0 },
      // One contact who unsubscribed twice.
      contactUnsubscribe: { total: 2, unique: 1, machine: 0 },
    })
    const data = { ...body.data, totals: figures(1000, 300, 15, 2), previous: figures(500, 100, 10, 0) }
    await route.fulfill({ response, json: { ...body, data } })
  })

  await page.goto('')
  const changeOf = (tile: string) => page.getByRole('button', { name: new RegExp(`^${tile}`) }).locator('[data-tone]')
  await changeOf('Sent').waitFor()
  const shown = async (tile: string) => {
    const change = changeOf(tile)
    const arrow = await change.getByRole('img').getAttribute('aria-label')
    return [
      arrow,
      await change.textContent(),
      await change.getAttribute('data-tone'),
      await change.getAttribute('title'),
    ]
  }
  expect(await shown('Sent')).toEqual(['up', '100%', 'better', '500 in the previous period'])
  expect(await shown('Opened')).toEqual(['up', '10 pts', 'better', '20% in the previous period, in percentage points'])
  expect(await shown('Bounced')).toEqual([
    'down',
    '0.5 pts',
    'better',
    '2% in the previous period, in percentage points',
  ])
  expect(await shown('Complaints')).toEqual([
    'up',
    '0.2 pts',
    'worse',
    '0% in the previous period, in percentage points',
  ])
  await page.getByRole('button', { name: /^Unsubscribed 1 ?0\.1%/ }).waitFor()
})

test('the statistics include the first email as soon as its step is completed', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  await page.getByRole('button', { name: /^Sent 0/ }).waitFor()
  await page.getByRole('button', { name: 'Send it' }).click()
  await step(page, 'Send yourself a first email').getByRole('img', { name: 'Done' }).waitFor()
  await page.getByRole('button', { name: /^Sent 1/ }).waitFor({ timeout: soonMs })
})

test('a first email to a suppressed address is reported as not sent', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/suppressions', { email: account.email })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  await page.getByRole('button', { name: 'Send it' }).click()
  const steps = page.getByRole('region', { name: 'Get started' })
  await steps.getByText('Not sent: this address is suppressed').waitFor()
  await steps.getByRole('link', { name: 'Suppressions' }).click()
  await page.getByRole('table', { name: 'Suppressions' }).getByText(account.email).waitFor()
})

test('a first email that is not sent in time is reported, with a link to the messages', async () => {
  await using relay = await startRelay()
  relay.onRecipient = () => ({ code: 451, text: 'come back later' })
  await using service = await startService({ settings: { SMTP_URL: relay.url } })
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account, isSeparate: true })
  const { page } = tab
  await page.clock.install()

  await page.goto('')
  const accepted = page.waitForResponse('**/send')
  await page.getByRole('button', { name: 'Send it' }).click()
  await accepted
  const steps = page.getByRole('region', { name: 'Get started' })
  await expect
    .poll(async () => {
      await page.clock.fastForward(30_000)
      return steps.getByText('Not sent yet.').count()
    })
    .toBe(1)
  expect(await page.getByRole('button', { name: 'Send it' }).isEnabled()).toBe(true)
  await steps.getByRole('link', { name: 'Messages' }).click()
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
})

test('with a mail server the checklist links to the message, not to the built-in inbox', async () => {
  await using relay = await startRelay()
  await using service = await startService({ settings: { SMTP_URL: relay.url } })
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  await page.getByRole('button', { name: 'Send it' }).click()
  await step(page, 'Send yourself a first email').getByRole('img', { name: 'Done' }).waitFor()
  const steps = page.getByRole('region', { name: 'Get started' })
  expect(await steps.getByRole('link', { name: 'Open the inbox' }).count()).toBe(0)
  await step(page, 'Open it in your mailbox').getByRole('link', { name: 'View the message' }).click()
  await page.getByRole('heading', { name: 'Welcome to Waxwing', exact: true, level: 1 }).waitFor()
  await page.getByText('Sent', { exact: true }).first().waitFor()
  expect(relay.mails.map(({ recipient }) => recipient)).toEqual([account.email])
})

test('someone who joins a team that completed the checklist does not see it, also when the mail server fails later', async () => {
  await using relay = await startRelay()
  await using service = await startService({ settings: { SMTP_URL: relay.url } })
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await completeSteps(page)

  const asked = Promise.all(
    ['checklist', 'sending', 'sending/setup'].map((name) => page.waitForResponse(`**/organization/${name}`)),
  )
  await page.goto('')
  await asked
  await page.getByRole('heading', { name: 'Recent activity' }).waitFor()
  const steps = page.getByRole('region', { name: 'Get started' })
  expect(await steps.count()).toBe(0)
  await page.route('**/organization/sending', async (route) => {
    const response = await route.fetch()
    const { data, ...body } = await response.json()
    await route.fulfill({ json: { ...body, data: { ...data, state: 'failing', queued: 1 } } })
  })
  await page.reload()
  await page.getByText('Emails are queued: can’t connect to the mail server').waitFor()
  expect(await steps.count()).toBe(0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('the checklist stays until a mail server is connected', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await completeSteps(page)

  await page.goto('')
  const steps = page.getByRole('region', { name: 'Get started' })
  await steps.getByText('8 of 9').waitFor()
  await step(page, 'Connect a mail server').getByRole('img', { name: 'To do' }).waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('every page warns while emails are queued for an unreachable mail server', async () => {
  const gone = await startRelay()
  await gone.stop()
  await using service = await startService({ settings: { SMTP_URL: gone.url } })
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const flow = await manage('POST', '/flows', {
    name: 'Order',
    kind: 'transactional',
    subject: 'Your order',
    html: '<p>Hello</p>',
  })
  const { message_id: id } = await manage('POST', `/flows/${flow.id}/test`, { to: 'ada@example.com' })
  await until('the failed attempt', async () => (await manage('GET', '/sending')).state === 'failing')
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('')
  await step(page, 'Connect a mail server').getByRole('img', { name: 'To do' }).waitFor()
  await page.goto('contacts')
  await page.getByText('Emails are queued: can’t connect to the mail server').waitFor()
  await page.goto(`messages/${id}`)
  await page.getByText('Not sent yet: can’t connect to the mail server').waitFor()
  await page
    .getByText(/Next attempt/)
    .first()
    .waitFor()
  expect(tab.problems).toEqual([])

  // The time of the attempt has come, and its result is not known yet.
  await page.route('**/organization/sending', async (route) => {
    const response = await route.fetch()
    const { data, ...body } = await response.json()
    await route.fulfill({ json: { ...body, data: { ...data, next_attempt_at: new Date().toISOString() } } })
  })
  await page.goto('contacts')
  await page.getByRole('status').getByText('Next attempt in a moment.').waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

/** The steps except the mail server. */
async function completeSteps(page: Page): Promise<void> {
  const data = { sent: true, opened: true, clicked: true, flow: true, contacts: true, api_key: true, webhook: true }
  await page.route('**/organization/checklist', (route) =>
    route.fulfill({ json: { code: 200, status: 'success', message: 'ok', data } }),
  )
  await page.route('**/organization/sending/setup', async (route) => {
    const response = await route.fetch()
    const { data: setup, ...body } = await response.json()
    const steps = setup.steps.map((each: { key: string }) =>
      each.key === 'base_url' ? { ...each, state: 'done' } : each,
    )
    await route.fulfill({ json: { ...body, data: { ...setup, steps } } })
  })
}

const step = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text })

test('problems stay on the overview until they are solved or dismissed, and then under Activity', async () => {
  const account = await registerOwner(service)
  const member = await join(service, account, 'max@notices.example', 'member')
  const manage = async (method: string, path: string, body?: unknown) =>
    (await service.manage(account.session, method, path, body)).body.data
  const organizationId = parseId('org', (await manage('GET', '/me')).organization.id) as OrganizationId
  const pause = async (name: string) => {
    const { id } = await manage('POST', '/organization/webhooks', {
      name,
      url: 'http://127.0.0.1:9/',
      all_events: true,
    })
    await manage('PATCH', `/organization/webhooks/${id}`, { status: 'paused' })
    const webhook = { organizationId, id: parseId('whk', id)!, name, failingSince: new Date() }
    await service.db.begin((tx) => recordPausedWebhook(tx, webhook))
    return id as string
  }
  const ids = [await pause('First'), await pause('Second'), await pause('Third'), await pause('Fourth')]
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const problem = (name: string) => page.getByText(`The webhook “${name}” was paused`)

  await page.goto('')
  await problem('Fourth').waitFor()
  // Like all times of the app, in the time zone of the browser.
  await page
    .getByText(/Every delivery has failed since \w+ \d+, \d\d:\d\d, so/)
    .first()
    .waitFor()
  expect(await problem('First').count()).toBe(0)
  await page.getByRole('button', { name: 'Show 1 more' }).click()
  await problem('First').waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await page.getByRole('button', { name: 'Dismiss: The webhook “Fourth” was paused' }).click()
  await problem('Fourth').waitFor({ state: 'detached' })
  await manage('PATCH', `/organization/webhooks/${ids[2]}`, { status: 'active' })
  await page.reload()
  // The oldest one is not hidden by those that were solved.
  await problem('First').waitFor()
  expect([await problem('Third').count(), await problem('Fourth').count()]).toEqual([0, 0])

  await page.goto('activity')
  await problem('Second').waitFor()
  await page.getByRole('button', { name: 'Show past problems (2)' }).click()
  const past = page.getByRole('list', { name: 'Past problems' }).getByRole('listitem')
  await past.filter({ hasText: 'Third' }).getByText('Solved', { exact: true }).waitFor()
  await past.filter({ hasText: 'Fourth' }).getByText('Dismissed', { exact: true }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])

  await using other = await openTab(browser, service, { account: member })
  await other.page.goto('')
  await other.page.getByText('The webhook “First” was paused').waitFor()
  expect(await other.page.getByRole('button', { name: 'Dismiss' }).count()).toBe(0)
  expect([...tab.problems, ...other.problems]).toEqual([])
})
