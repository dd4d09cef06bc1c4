import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { deliver, deliveryStatusMail } from '../support/bounce-sender.ts'
import { type ReceivedEmail, startRelay } from '../support/relay.ts'
import { freePort } from '../support/service.ts'
import { callUrl } from '../support/test-app.ts'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { organizationApi, registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const relay = await startRelay()
afterAll(() => relay[Symbol.asyncDispose]())
const bouncePort = await freePort()
const service = await startSharedService({
  ...{ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '1,1' },
  ...{ BOUNCE_DOMAIN: 'bounces.acme.example', BOUNCE_SMTP_HOST: '127.0.0.1', BOUNCE_SMTP_PORT: String(bouncePort) },
})
const account = await registerOwner(service)
const manage = organizationApi(service, account)

const person = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15'
/** Loads every image of an email that nobody may have opened. */
const privacyProxy = 'Mozilla/5.0'

const dayMs = 86_400_000
const day = (offset: number) => new Date(Date.now() + offset * dayMs).toISOString().slice(0, 10)

/** What the broadcast, and two more emails of its flow, one of which is rejected, have to say everywhere. */
const broadcastFigures = { sent: 10, delivered: 8, opened: 4, clicked: 3, bounced: 2, unsubscribed: 1 }
const flowFigures = { sent: 12, delivered: 9, opened: 5, clicked: 3, bounced: 3, unsubscribed: 1 }
/** With one email of another flow. */
const allFigures = { sent: 13, delivered: 10, opened: 6, clicked: 4, bounced: 3, unsubscribed: 1 }
const figureNames = Object.keys(allFigures) as (keyof typeof allFigures)[]

type Totals = Record<'sent' | 'delivered' | 'bounced', number> &
  Record<'emailOpen' | 'emailClick' | 'contactUnsubscribe', { unique: number }>
const inReport = ({ sent, delivered, bounced, emailOpen, emailClick, contactUnsubscribe }: Totals) => ({
  ...{ sent, delivered, opened: emailOpen.unique, clicked: emailClick.unique, bounced },
  unsubscribed: contactUnsubscribe.unique,
})
const sumOf = (rows: Record<string, number>[], name: string) => rows.reduce((sum, row) => sum + row[name]!, 0)
const linesOf = (text: string) => text.split(/\s*\n\s*/).filter(Boolean)
const period = `start_date=${day(-6)}&end_date=${day(0)}`
const share = (value: number, total: number) => `${Math.round((1000 * value) / total) / 10}%`

const { newsletter, broadcast, erased } = await sendEmails()
await reactToEmails()

/** Two addresses do not exist, one email is deferred at first. */
async function sendEmails() {
  relay.onRecipient = (address) =>
    address.startsWith('missing') ? { code: 550, text: '5.1.1 no such user' } : undefined
  let deferrals = 0
  relay.onData = ({ recipient }) =>
    recipient.startsWith('later') && deferrals++ === 0 ? { code: 451, text: '4.7.1 try later' } : undefined
  const link = '<a href="https://acme.example/read">Read</a>'
  const newFlow = async (name: string, kind: string) =>
    (await manage('POST', '/flows', { name, kind, subject: name, html: `<p>${name}</p>${link}` })).id
  const newsletter = await newFlow('Newsletter', 'marketing')
  const receipt = await newFlow('Receipt', 'transactional')
  const group = await manage('POST', '/groups', { name: 'Readers' })
  const newContact = (name: string) => manage('POST', '/contacts', { email: `${name}@example.com` })
  const names = ['opener', 'clicker', 'blocked', 'proxy', 'leaver', 'erased', 'returned', 'later', 'missing', 'quiet']
  const contacts = new Map<string, string>()
  for (const name of [...names, 'extra', 'missing2']) contacts.set(name, (await newContact(name)).id)
  await manage('POST', `/groups/${group.id}/members`, { contact_ids: names.map((name) => contacts.get(name)) })
  const audience = { group_ids: [group.id] }
  const broadcast = await manage('POST', '/broadcasts', { name: 'May', flow_id: newsletter, audience })
  await manage('POST', `/broadcasts/${broadcast.id}/start`, {})
  for (const [flow, name] of [
    [newsletter, 'extra'],
    [newsletter, 'missing2'],
    [receipt, 'opener'],
  ])
    await manage('POST', `/flows/${flow}/send`, { contact_email: `${name}@example.com` })
  await until('the emails', () => relay.mails.length === 11)
  return { newsletter, broadcast, erased: contacts.get('erased')! }
}

async function reactToEmails(): Promise<void> {
  const mailTo = (name: string, subject = 'Newsletter') =>
    relay.mails.find(({ recipient, mail }) => recipient === `${name}@example.com` && mail.subject === subject)!
  const visit = async (found: ReceivedEmail, path: RegExp, agent = person) => {
    const [, url] = path.exec(found.mail.html!)!
    expect((await callUrl('GET', url!.replaceAll('&amp;', '&'), { headers: { 'user-agent': agent } })).status).toBe(
      path === opening ? 200 : 302,
    )
  }
  const opening = /src="([^"]+\/t\/o\/[^"]+)"/
  const clicking = /href="([^"]+\/t\/c\/[^"]+)"/
  for (const name of ['opener', 'opener', 'clicker', 'erased', 'later', 'extra']) await visit(mailTo(name), opening)
  for (const name of ['clicker', 'clicker', 'erased', 'blocked']) await visit(mailTo(name), clicking)
  await visit(mailTo('proxy'), opening, privacyProxy)
  await visit(mailTo('opener', 'Receipt'), opening)
  await visit(mailTo('opener', 'Receipt'), clicking)
  const [, leave] = /^List-Unsubscribe: <(http[^>]+)>/m.exec(mailTo('leaver').raw.replaceAll(/\r\n\s+/g, ' '))!
  const oneClick = { 'content-type': 'application/x-www-form-urlencoded' }
  await callUrl('POST', leave!, { headers: oneClick, raw: 'List-Unsubscribe=One-Click' })
  const { sender, raw } = mailTo('returned')
  const report = deliveryStatusMail(sender, { headers: raw.split('\r\n\r\n')[0]!.replaceAll('\r\n', '\n') })
  expect((await deliver(bouncePort, '', sender, report)).kind).toBe('accepted')
  await until('the events', async () => {
    const { status, counts, results } = await manage('GET', `/broadcasts/${broadcast.id}`)
    const { totals } = await manage('GET', `/overview?${period}`)
    return status === 'sent' && counts.bounced === 2 && results.clicked === 3 && totals.sent === 13
  })
  await manage('DELETE', `/contacts/${erased}`)
}

const labels = { sent: 'Sent', delivered: 'Delivered', opened: 'Opened', clicked: 'Clicked' }
const allLabels = { ...labels, bounced: 'Bounced', unsubscribed: 'Unsubscribed' }
const rates = (...names: (keyof typeof allFigures)[]) => names.map((name) => share(flowFigures[name], flowFigures.sent))

const rowsOf = (page: Page, table: string) => page.getByRole('table', { name: table }).locator('tbody').getByRole('row')

/** Waits for the table, and returns the cells of the row with that text. */
async function cellsOf(page: Page, table: string, text: string): Promise<string[]> {
  const row = rowsOf(page, table).filter({ hasText: text })
  await row.waitFor()
  return row.getByRole('cell').allInnerTexts()
}

/** Downloads a file and returns how many rows it has below its head. */
async function downloadedRows(page: Page, button: Locator): Promise<number> {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()])
  return (
    readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n').length - 1
  )
}

test('the overview and the results of a flow count the same emails, and their parts add up', async () => {
  const overview = await manage('GET', `/overview?${period}`)
  expect(inReport(overview.totals)).toEqual(allFigures)
  expect(sumOf(overview.top_flows, 'sent')).toBe(allFigures.sent)
  expect(overview.top_flows.find(({ name }: { name: string }) => name === 'Newsletter')).toMatchObject({
    ...{ sent: flowFigures.sent, bounced: flowFigures.bounced, unsubscribes: flowFigures.unsubscribed },
    ...{ opens_unique: flowFigures.opened, clicks_unique: flowFigures.clicked },
  })
  const results = await manage('GET', `/flows/${newsletter}/results?${period}`)
  expect(inReport(results.totals)).toEqual(flowFigures)
  expect(inReport((await manage('GET', `/overview?${period}&flow_id=${newsletter}`)).totals)).toEqual(flowFigures)
  for (const [{ totals }, ...parts] of [
    [overview, overview.series],
    [results, results.days, results.domains, results.versions],
  ])
    for (const rows of parts)
      for (const name of ['sent', 'bounced']) expect(sumOf(rows, name), `the sum of ${name}`).toBe(totals[name])
})

test('metrics count events: an email that was rejected at once was never accepted by a mail server', async () => {
  const { api_key: key } = await manage('POST', '/api-keys', { name: 'Metrics' })
  const metric = async (event: string) => {
    const url = `public/api/v1/analytics/metrics/get-email-event-metric?event_name=${event}&${period}&flow_id=${newsletter}`
    return (await callUrl('GET', `${service.url}${url}`, { headers: { 'x-api-token': key } })).body.data
  }
  const rejected = 2
  expect(await metric('emailSent')).toMatchObject({
    total: flowFigures.sent - rejected,
    unique: flowFigures.sent - rejected,
  })
  expect(await metric('emailHardBounce')).toMatchObject({ total: flowFigures.bounced, unique: flowFigures.bounced })
  expect(await metric('emailOpen')).toMatchObject({ total: 7, unique: flowFigures.opened, machine: 1 })
  expect(await metric('emailClick')).toMatchObject({ total: 4, unique: flowFigures.clicked, machine: 0 })
  expect(await metric('contactUnsubscribe')).toMatchObject({ total: flowFigures.unsubscribed })
})

test('the overview and the list of flows show the numbers of the reports', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('')
  expect((await cellsOf(page, 'Top flows', 'Newsletter')).slice(1)).toEqual([
    String(flowFigures.sent),
    ...rates('opened', 'clicked', 'bounced'),
  ])
  for (const name of figureNames.filter((each) => each !== 'delivered')) {
    const tile = page.getByRole('button', { name: new RegExp(`^${allLabels[name]}`) })
    expect(linesOf(await tile.innerText()).slice(0, 2)).toEqual([allLabels[name], String(allFigures[name])])
  }
  await page.goto('flows')
  expect((await cellsOf(page, 'Flows', 'Newsletter')).slice(3, 7)).toEqual([
    String(flowFigures.sent),
    ...rates('opened', 'clicked', 'bounced'),
  ])
  expect(tab.problems).toEqual([])
})

test('each number of a flow leads to as many people, on the page and in the file', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto(`flows/${newsletter}`)
  for (const name of figureNames) {
    const number = page.getByRole('button', { name: `${allLabels[name]}: ${flowFigures[name]}, show who` })
    await number.click()
    const people = page.getByRole('dialog')
    await people.getByRole('row').nth(1).waitFor()
    expect([name, await people.locator('tbody').getByRole('row').count()]).toEqual([name, flowFigures[name]])
    expect([name, await downloadedRows(page, people.getByRole('button', { name: 'Download people as CSV' }))]).toEqual([
      name,
      flowFigures[name],
    ])
    await page.keyboard.press('Escape')
    await people.waitFor({ state: 'hidden' })
  }
  expect(tab.problems).toEqual([])
})

test('the messages of a flow are as many as its numbers, on the page and in the file', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  for (const name of figureNames) {
    await page.goto(`messages?flow=${newsletter}&status=${name}`)
    await rowsOf(page, 'Messages').first().waitFor()
    await expect.poll(() => rowsOf(page, 'Messages').count(), { message: name }).toBe(flowFigures[name])
    expect([name, await downloadedRows(page, page.getByRole('button', { name: 'Export CSV' }))]).toEqual([
      name,
      flowFigures[name],
    ])
  }
  expect(tab.problems).toEqual([])
})

test('the list and the comparison of broadcasts show the numbers of the broadcast', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const { sent } = broadcastFigures
  await page.goto('broadcasts')
  expect((await cellsOf(page, 'Broadcasts', 'May')).slice(2, 6)).toEqual([
    String(sent),
    ...(['delivered', 'opened', 'clicked'] as const).map((name) => share(broadcastFigures[name], sent)),
  ])
  await page.goto('broadcasts/compare')
  expect((await cellsOf(page, 'Comparison', 'May'))[2]).toBe(String(sent))
  for (const name of ['delivered', 'opened', 'clicked', 'unsubscribed'] as const)
    await page.getByRole('link', { name: `${allLabels[name]}: ${broadcastFigures[name]}`, exact: true }).waitFor()
  expect(tab.problems).toEqual([])
})

test('each number of a broadcast leads to as many recipients, on the page and in the file', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto(`broadcasts/${broadcast.id}`)
  await page.getByText(/^Sent to 10, /).waitFor()
  const result = page.getByRole('region', { name: 'Result' })
  const recipients = page.getByRole('region', { name: 'Recipients' })
  for (const name of figureNames) {
    const number = result.getByRole('link', { name: new RegExp(`^${allLabels[name]}`) })
    const shown = name in labels ? linesOf(await number.innerText()) : [allLabels[name], await number.innerText()]
    expect(shown.slice(0, 2)).toEqual([allLabels[name], String(broadcastFigures[name])])
    await number.click()
    await expect
      .poll(() => recipients.locator('tbody').getByRole('row').count(), { message: name })
      .toBe(broadcastFigures[name])
    expect([name, await downloadedRows(page, recipients.getByRole('button', { name: 'Export CSV' }))]).toEqual([
      name,
      broadcastFigures[name],
    ])
  }
  expect(tab.problems).toEqual([])
})
