import { readFileSync } from 'node:fs'
import type { Download, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { insertPastMessages, type PastMessage } from '../../bench/support/past-messages.ts'
import { derivedEventId, type NewEvent, recordEvents } from '../../src/events/recording/record.ts'
import type { BounceDetail } from '../../src/platform/values/event-types.ts'
import {
  type ContactId,
  type FlowVersionId,
  type MessageId,
  newId,
  type OrganizationId,
  parseId,
} from '../../src/platform/values/ids.ts'
import { eventIdAt } from '../support/event-world.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab, segment } from './support/pages.ts'
import { type Account, organizationApi, registerOwner, type Service, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

const dayMs = 86_400_000
const soft: BounceDetail = { type: 'soft', status: '4.2.2', reply_code: 452, reason: 'mailbox_full', diagnostic: null }

/** 40 emails of the last 20 days: 2 bounce, one of them at once and twice, 18 are opened, 12 clicked, 1 is opened by a machine only. */
async function fill(service: Service, account: Account): Promise<string> {
  const manage = organizationApi(service, account)
  const html = '<p>Hello</p><a href="https://shop.example/sale">Sale</a>'
  const flow = await manage('POST', '/flows', { name: 'Spring sale', kind: 'transactional', subject: 'Sale', html })
  const flowId = parseId('flw', flow.id)!
  const [version] = await service.db<{ organizationId: OrganizationId; id: FlowVersionId }>`
    select organization_id, id from flow_versions where flow_id = ${flowId}`
  const { organizationId, id: flowVersionId } = version!
  const messages: PastMessage[] = []
  const events: NewEvent[] = []
  for (let index = 0; index < 40; index++) {
    const email = `reader${index}@${index % 4 === 0 ? 'mail.example' : 'example.com'}`
    const { id } = await manage('POST', '/contacts', { email })
    const contactId = parseId('con', id) as ContactId
    const sentAt = new Date(Date.now() - (index / 2) * dayMs - 3_600_000)
    const bounced = index < 2
    messages.push({
      ...{
        id: eventIdAt(sentAt) as string as MessageId,
        flowId,
        flowVersionId,
        contactId,
        email,
        subject: 'Sale',
        context: { code: `S-${index}` },
      },
      ...{ status: bounced ? 'bounced' : 'sent', sentAt },
    })
    const add = (eventName: NewEvent['eventName'], minutes: number, more: Partial<NewEvent> = {}) =>
      events.push({
        ...{ id: derivedEventId(messages[index]!.id, `${eventName} ${minutes}`), organizationId, eventName, flowId },
        ...{ occurredAt: new Date(+sentAt + minutes * 60_000), messageId: messages[index]!.id, contactId },
        ...{ machine: false, machineReason: null, data: {}, ...more },
      })
    if (index !== 1) add('emailSent', 0)
    if (bounced) add('emailSoftBounce', 1, { data: { bounce: soft } })
    if (index === 1) add('emailHardBounce', 2, { data: { bounce: { ...soft, type: 'hard', reason: 'user_unknown' } } })
    if (index >= 10 && index < 28) add('emailOpen', 5)
    if (index >= 10 && index < 22) add('emailClick', 6, { data: { url: 'https://shop.example/sale' } })
    if (index === 10) add('emailClick', 20, { data: { url: `https://shop.example/u/${newId('con')}` } })
    if (index === 30) add('emailOpen', 1, { machine: true, machineReason: 'scanner' })
  }
  await service.db.begin(async (tx) => {
    await insertPastMessages(tx, organizationId, messages)
    await recordEvents(tx, events)
  })
  return flow.id
}

const rowsOf = (page: Page, table: string) =>
  page.getByRole('table', { name: table }).locator('tbody').getByRole('row').allInnerTexts()

const saved = async (download: Promise<Download>) => {
  const file = await download
  return {
    name: file.suggestedFilename(),
    lines: readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n'),
  }
}

test('the results of a flow are the first thing one sees of it', async () => {
  const account = await registerOwner(service)
  await fill(service, account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('flows')
  await page.getByRole('link', { name: 'Spring sale' }).click()
  await page.getByText('40 emails sent in 30 days: 45% opened, 30% clicked, 5% bounced.').waitFor()
  const funnel = page.getByRole('region', { name: 'Funnel' })
  const chart = (name: string) => funnel.getByRole('button', { name, exact: true })
  const step = (name: string) => funnel.locator('div').filter({ has: page.getByRole('button', { name, exact: true }) })
  expect((await step('Delivered').innerText()).split(/\s+/)).toEqual(expect.arrayContaining(['38', '95%']))
  expect(await step('Opened').innerText()).toContain('plus 1 automated open, not counted')
  await chart('Clicked').click()
  await page.getByRole('heading', { name: 'Clicked by day' }).waitFor()
  await funnel.getByRole('button', { name: 'Delivered: 38, show who' }).click()
  const people = page.getByRole('dialog', { name: 'Who it was delivered to' })
  await people.getByRole('link', { name: 'reader10@example.com' }).waitFor()
  const peopleFile = saved(page.waitForEvent('download'))
  await people.getByRole('button', { name: 'Download people as CSV' }).click()
  expect((await peopleFile).lines).toHaveLength(39)
  await page.keyboard.press('Escape')

  await funnel.getByRole('button', { name: 'Bounced: 2, show who' }).click()
  const bounces = page.getByRole('dialog', { name: 'Whose email bounced' })
  await bounces.getByRole('row').filter({ hasText: 'reader1@example.com' }).getByText('Hard: User unknown').waitFor()
  const bouncesFile = saved(page.waitForEvent('download'))
  await bounces.getByRole('button', { name: 'Download people as CSV' }).click()
  expect((await bouncesFile).lines).toHaveLength(3)
  await page.keyboard.press('Escape')

  const links = await rowsOf(page, 'Links')
  expect(links[0]).toMatch(/shop\.example\/sale[\s\S]*12 30%[\s\S]*12/)
  expect(links[1]).toContain('shop.example/u/…')
  expect((await rowsOf(page, 'Receiving domains'))[0]).toMatch(/example\.com[\s\S]*30/)
  expect((await rowsOf(page, 'Bounces by reason'))[0]).toMatch(/Mailbox full[\s\S]*0[\s\S]*2/)
  await page.getByRole('button', { name: 'Show whose email bounced' }).click()
  const bounced = page.getByRole('dialog', { name: 'Whose email bounced' })
  await bounced.getByText('Soft: Mailbox full').first().waitFor()
  await page.keyboard.press('Escape')
  expect((await rowsOf(page, 'Versions'))[0]).toMatch(/Version 1[\s\S]*40/)
  const linkFile = saved(page.waitForEvent('download'))
  await page.getByRole('button', { name: 'Download links as CSV' }).click()
  expect(await linkFile).toEqual({
    name: 'spring-sale-links.csv',
    lines: [
      '"link","clicked","total_clicks","automated_clicks"',
      '"https://shop.example/sale","12","12","0"',
      '"https://shop.example/u/…","1","1","0"',
    ],
  })

  await page.getByRole('button', { name: 'shop.example/sale' }).click()
  const dialog = page.getByRole('dialog', { name: 'Who clicked' })
  await dialog.getByRole('link', { name: 'reader10@example.com' }).waitFor()
  expect(await dialog.getByRole('row').count()).toBeGreaterThanOrEqual(12)
  const clickFile = saved(page.waitForEvent('download'))
  await dialog.getByRole('button', { name: 'Download clicks as CSV' }).click()
  expect((await clickFile).lines).toHaveLength(13)
  await page.keyboard.press('Escape')

  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Bounced' }).click()
  await page.getByRole('table', { name: 'Messages' }).getByText('reader1@example.com').waitFor()
  await expect.poll(async () => (await rowsOf(page, 'Messages')).length).toBe(2)
  const messageFile = saved(page.waitForEvent('download'))
  await page.getByRole('button', { name: 'Export CSV' }).click()
  expect((await messageFile).lines).toHaveLength(3)

  await segment(page, 'Range', '7 days').click()
  // The first day of the range begins at midnight, so the time of day decides how many emails belong to it.
  await page.getByText(/^1[2-4] emails sent in 7 days/).waitFor()
  expect(new URL(page.url()).searchParams.get('status')).toBe('bounced')
  expect(tab.problems).toEqual([])
})

test('a flow that was never sent leads to the editor and to a test email, which is marked in the list', async () => {
  const account = await registerOwner(service)
  const created = await service.manage(account.session, 'POST', '/organization/flows', {
    ...{ name: 'Empty', kind: 'transactional', subject: 'Empty', html: '<p>Empty</p>' },
  })
  const { id } = created.body.data
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  // The address of the results in older links.
  await page.goto(`flows/${id}/results?days=7`)
  await page.waitForURL(`**/flows/${id}?days=7`)
  await page.getByRole('heading', { name: 'No emails sent yet' }).waitFor()
  await page.getByRole('link', { name: 'Edit email' }).click()
  await page.waitForURL(`**/flows/${id}/edit`)
  await page.getByRole('textbox', { name: 'Subject' }).waitFor()
  await page.getByRole('link', { name: 'Results' }).click()

  await page.getByRole('button', { name: 'Send test email' }).last().click()
  const dialog = page.getByRole('dialog', { name: 'Send test email' })
  await dialog.getByRole('button', { name: 'Send test email' }).click()
  await dialog.getByRole('status').getByText('Sent', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  const messages = page.getByRole('table', { name: 'Messages' })
  await messages.getByText('Test', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'No emails sent yet' }).waitFor()

  await page.goto('messages')
  await messages.getByText('Test', { exact: true }).waitFor()
  const choose = async (option: string) => {
    await page.getByRole('combobox', { name: 'Test emails' }).click()
    await page.getByRole('option', { name: option }).click()
  }
  await choose('Without test emails')
  await page.getByText('No messages found').waitFor()
  await choose('Only test emails')
  await messages.getByText('[Test] Empty').waitFor()
  expect(tab.problems).toEqual([])
})

test('on a phone, a message shows its context and deliveries, and is sent again', async () => {
  const account = await registerOwner(service)
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const manage = organizationApi(service, account)
  await manage('POST', '/webhooks', { name: 'CRM', url: receiver.url(), all_events: true })
  const key = await manage('POST', '/api-keys', { name: 'Shop' })
  const html = '<p>Code {{ code }}</p>'
  const flow = await manage('POST', '/flows', { name: 'Code', kind: 'transactional', subject: 'Code', html })
  const sent = await fetch(`${service.url}public/api/v1/flow/send-email-through-flow`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-token': key.api_key },
    body: JSON.stringify({ flow_id: flow.id, contact_email: 'ada@example.com', context: { code: 'S-1042' } }),
  })
  const { message_id: id } = ((await sent.json()) as { data: { message_id: string } }).data
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto(`messages/${id}`)
  await page.getByRole('region', { name: 'Variables' }).getByText('"code": "S-1042"').waitFor()
  await page.getByRole('link', { name: 'Built-in inbox' }).waitFor()
  await page.getByRole('table', { name: 'Webhook deliveries' }).getByText('Delivered').waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send again' })
  await dialog.getByText('through “Code” to ada@example.com').waitFor()
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await page.waitForURL((url) => url.pathname.includes('/messages/') && !url.pathname.endsWith(id))
  await page.getByRole('region', { name: 'Variables' }).getByText('"code": "S-1042"').waitFor()

  await page.getByRole('table', { name: 'Webhook deliveries' }).getByRole('link', { name: 'CRM' }).click()
  await page.getByRole('article', { name: 'Attempt 1' }).waitFor()
  await page.goto(`messages/${id}`)
  await page.getByRole('link', { name: 'Built-in inbox' }).click()
  await page.waitForURL(`**/inbox/${id}`)
  expect(tab.problems).toEqual([])
})
