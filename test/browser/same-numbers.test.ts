import { readFileSync } from 'node:fs'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { deliver, deliveryStatusMail } from '../support/bounce-sender.ts'
import { type ReceivedEmail, startRelay } from '../support/relay.ts'
import { freePort } from '../support/service.ts'
import { callUrl } from '../support/test-app.ts'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { organizationApi, registerOwner, startService } from './support/service.ts'

const browser = await sharedBrowser()

const person = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15'
/** Loads every image of an email that nobody may have opened. */
const privacyProxy = 'Mozilla/5.0'

const dayMs = 86_400_000
const day = (offset: number) => new Date(Date.now() + offset * dayMs).toISOString().slice(0, 10)

/** What the broadcast, and two more emails of its flow, one of which is rejected, have to say everywhere. */
const ofBroadcast = { sent: 10, delivered: 8, opened: 4, clicked: 3, bounced: 2, unsubscribed: 1 }
const ofFlow = { sent: 12, delivered: 9, opened: 5, clicked: 3, bounced: 3, unsubscribed: 1 }
/** With one email of another flow. */
const ofAll = { sent: 13, delivered: 10, opened: 6, clicked: 4, bounced: 3, unsubscribed: 1 }
const figures = Object.keys(ofAll) as (keyof typeof ofAll)[]

type Totals = Record<'sent' | 'delivered' | 'bounced', number> &
  Record<'emailOpen' | 'emailClick' | 'contactUnsubscribe', { unique: number }>
const inReport = ({ sent, delivered, bounced, emailOpen, emailClick, contactUnsubscribe }: Totals) => ({
  ...{ sent, delivered, opened: emailOpen.unique, clicked: emailClick.unique, bounced },
  unsubscribed: contactUnsubscribe.unique,
})
const sumOf = (rows: Record<string, number>[], name: string) => rows.reduce((sum, row) => sum + row[name]!, 0)
const linesOf = (text: string) => text.split(/\s*\n\s*/).filter(Boolean)
const share = (value: number, of: number) => `${Math.round((1000 * value) / of) / 10}%`

test('each number is the same wherever it is shown, whatever happened to the emails', async () => {
  await using relay = await startRelay()
  const bouncePort = await freePort()
  await using service = await startService({
    settings: {
      ...{ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '1,1', SIGNUP: 'open', REQUIRE_VERIFIED_DOMAINS: 'false' },
      ...{ BOUNCE_DOMAIN: 'bounces.acme.example', BOUNCE_SMTP_HOST: '127.0.0.1', BOUNCE_SMTP_PORT: String(bouncePort) },
    },
  })
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)

  // The history. Two addresses do not exist, one email is deferred at first.
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
  await until('the emails', () => relay.mails.length === 11 || undefined)

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
    const { totals } = await manage('GET', `/overview?start_date=${day(-6)}&end_date=${day(0)}`)
    return status === 'sent' && counts.bounced === 2 && results.clicked === 3 && totals.sent === 13
  })
  await manage('DELETE', `/contacts/${contacts.get('erased')}`)

  // Reports.
  const period = `start_date=${day(-6)}&end_date=${day(0)}`
  const overview = await manage('GET', `/overview?${period}`)
  expect(inReport(overview.totals)).toEqual(ofAll)
  expect(sumOf(overview.top_flows, 'sent')).toBe(ofAll.sent)
  expect(overview.top_flows.find(({ name }: { name: string }) => name === 'Newsletter')).toMatchObject({
    ...{ sent: ofFlow.sent, bounced: ofFlow.bounced, unsubscribes: ofFlow.unsubscribed },
    ...{ opens_unique: ofFlow.opened, clicks_unique: ofFlow.clicked },
  })
  const results = await manage('GET', `/flows/${newsletter}/results?${period}`)
  expect(inReport(results.totals)).toEqual(ofFlow)
  expect(inReport((await manage('GET', `/overview?${period}&flow_id=${newsletter}`)).totals)).toEqual(ofFlow)
  for (const [{ totals }, ...parts] of [
    [overview, overview.series],
    [results, results.days, results.domains, results.versions],
  ])
    for (const rows of parts)
      for (const name of ['sent', 'bounced']) expect(sumOf(rows, name), `the sum of ${name}`).toBe(totals[name])

  // Metrics are of events: what was rejected at once was never accepted by a mail server.
  const { api_key: key } = await manage('POST', '/api-keys', { name: 'Metrics' })
  const metric = async (event: string) => {
    const url = `public/api/v1/analytics/metrics/get-email-event-metric?event_name=${event}&${period}&flow_id=${newsletter}`
    return (await callUrl('GET', `${service.url}${url}`, { headers: { 'x-api-token': key } })).body.data
  }
  const rejected = 2
  expect(await metric('emailSent')).toMatchObject({ total: ofFlow.sent - rejected, unique: ofFlow.sent - rejected })
  expect(await metric('emailHardBounce')).toMatchObject({ total: ofFlow.bounced, unique: ofFlow.bounced })
  expect(await metric('emailOpen')).toMatchObject({ total: 7, unique: ofFlow.opened, machine: 1 })
  expect(await metric('emailClick')).toMatchObject({ total: 4, unique: ofFlow.clicked, machine: 0 })
  expect(await metric('contactUnsubscribe')).toMatchObject({ total: ofFlow.unsubscribed })

  // Pages.
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const rowsOf = (table: string) => page.getByRole('table', { name: table }).locator('tbody').getByRole('row')
  const cellsOf = (table: string, name: string) =>
    rowsOf(table).filter({ hasText: name }).getByRole('cell').allInnerTexts()
  const rates = (...names: (keyof typeof ofAll)[]) => names.map((name) => share(ofFlow[name], ofFlow.sent))
  const labels = { sent: 'Sent', delivered: 'Delivered', opened: 'Opened', clicked: 'Clicked' }
  const allLabels = { ...labels, bounced: 'Bounced', unsubscribed: 'Unsubscribed' }

  await page.goto('')
  await rowsOf('Top flows').first().waitFor()
  for (const name of figures.filter((each) => each !== 'delivered')) {
    const tile = page.getByRole('button', { name: new RegExp(`^${allLabels[name]}`) })
    expect(linesOf(await tile.innerText()).slice(0, 2)).toEqual([allLabels[name], String(ofAll[name])])
  }
  expect((await cellsOf('Top flows', 'Newsletter')).slice(1)).toEqual([
    String(ofFlow.sent),
    ...rates('opened', 'clicked', 'bounced'),
  ])

  await page.goto('flows')
  await rowsOf('Flows').first().waitFor()
  expect((await cellsOf('Flows', 'Newsletter')).slice(3, 7)).toEqual([
    String(ofFlow.sent),
    ...rates('opened', 'clicked', 'bounced'),
  ])

  const linesOfFile = async (button: Locator) => {
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()])
    return (
      readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\n').length - 1
    )
  }
  await page.goto(`flows/${newsletter}`)
  for (const name of figures) {
    const number = page.getByRole('button', { name: `${allLabels[name]}: ${ofFlow[name]}, show who` })
    await number.click()
    const people = page.getByRole('dialog')
    await people.getByRole('row').nth(1).waitFor()
    expect([name, await people.locator('tbody').getByRole('row').count()]).toEqual([name, ofFlow[name]])
    expect([name, await linesOfFile(people.getByRole('button', { name: 'Download people as CSV' }))]).toEqual([
      name,
      ofFlow[name],
    ])
    await page.keyboard.press('Escape')
    await people.waitFor({ state: 'hidden' })
  }
  for (const name of figures) {
    await page.goto(`messages?flow=${newsletter}&status=${name}`)
    await rowsOf('Messages').first().waitFor()
    await expect.poll(() => rowsOf('Messages').count(), { message: name }).toBe(ofFlow[name])
    expect([name, await linesOfFile(page.getByRole('button', { name: 'Export CSV' }))]).toEqual([name, ofFlow[name]])
  }

  const { sent } = ofBroadcast
  await page.goto('broadcasts')
  await rowsOf('Broadcasts').first().waitFor()
  expect((await cellsOf('Broadcasts', 'May')).slice(2, 6)).toEqual([
    String(sent),
    ...(['delivered', 'opened', 'clicked'] as const).map((name) => share(ofBroadcast[name], sent)),
  ])
  await page.goto('broadcasts/compare')
  await rowsOf('Comparison').first().waitFor()
  expect((await cellsOf('Comparison', 'May'))[2]).toBe(String(sent))
  for (const name of ['delivered', 'opened', 'clicked', 'unsubscribed'] as const)
    await page.getByRole('link', { name: `${allLabels[name]}: ${ofBroadcast[name]}`, exact: true }).waitFor()
  await page.goto(`broadcasts/${broadcast.id}`)
  await page.getByText(/^Sent to 10, /).waitFor()
  const result = page.getByRole('region', { name: 'Result' })
  const recipients = page.getByRole('region', { name: 'Recipients' })
  for (const name of figures) {
    const number = result.getByRole('link', { name: new RegExp(`^${allLabels[name]}`) })
    const shown = name in labels ? linesOf(await number.innerText()) : [allLabels[name], await number.innerText()]
    expect(shown.slice(0, 2)).toEqual([allLabels[name], String(ofBroadcast[name])])
    await number.click()
    await expect
      .poll(() => recipients.locator('tbody').getByRole('row').count(), { message: name })
      .toBe(ofBroadcast[name])
    expect([name, await linesOfFile(recipients.getByRole('button', { name: 'Export CSV' }))]).toEqual([
      name,
      ofBroadcast[name],
    ])
  }
  expect(tab.problems).toEqual([])
})
