import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { parseId } from '../../src/platform/values/ids.ts'
import { orderFlow } from '../support/flows.ts'
import { longTestMsMax } from '../support/time-limits.ts'
import { sharedBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { goTo, openTab, sizes } from './support/pages.ts'
import { type Account, registerOwner, type Service, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

const spenders = { type: 'status', operator: 'is', value: 'subscribed' }

test('the search field follows the URL of the page', async () => {
  const account = await registerOwner(service)
  await addContacts(service, account, ['p17@example.com', 'p18@example.com'])
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const field = page.getByLabel('Search contacts')

  await page.goto('contacts?query=p17')
  await page.getByRole('link', { name: 'p17@example.com' }).waitFor()
  expect(await field.inputValue()).toBe('p17')
  expect(await page.getByRole('link', { name: 'p18@example.com' }).count()).toBe(0)
  await goTo(page, 'Contacts')
  await page.getByRole('link', { name: 'p18@example.com' }).waitFor()
  expect(await field.inputValue()).toBe('')

  await field.fill('p18 ')
  await page.waitForURL('**/contacts?query=p18')
  await page.getByRole('link', { name: 'p17@example.com' }).waitFor({ state: 'hidden' })
  expect(await field.inputValue()).toBe('p18 ')
})

test('a search that is cleared immediately does not return', async () => {
  const account = await registerOwner(service)
  await addContacts(service, account, ['p17@example.com', 'p18@example.com'])
  await using tab = await openTab(browser, service, { account, isSeparate: true })
  const { page } = tab
  await page.clock.install()

  await page.goto('contacts')
  await page.getByRole('link', { name: 'p18@example.com' }).waitFor()
  // With the clock paused, the delay of the search does not elapse.
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.getByLabel('Search contacts').fill('p17')
  await page.getByRole('button', { name: 'Clear search' }).click()
  await page.clock.runFor(2_000)
  await page.clock.resume()
  expect(new URL(page.url()).search).toBe('')
  expect(await page.getByLabel('Search contacts').inputValue()).toBe('')
})

test('text in a row can be selected, its time has a tooltip, and clicking the row opens it', async () => {
  const account = await registerOwner(service)
  await addContacts(service, account, ['ada@example.com'])
  await using tab = await openTab(browser, service, { account })
  const { page, context } = tab
  await page.goto('contacts')
  const row = page.getByRole('row').filter({ hasText: 'ada@example.com' })
  const time = row.getByRole('time')
  await time.waitFor()

  // The element under the mouse is the time itself, with its tooltip.
  const box = (await time.boundingBox())!
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const found = await page.evaluate(
    `document.elementFromPoint(${middle.x}, ${middle.y}).closest('time')?.getAttribute('title') ?? ''`,
  )
  expect(found).toMatch(/\d{4}.*\d\d:\d\d:\d\d/)

  await page.mouse.move(box.x + 1, middle.y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width - 1, middle.y, { steps: 5 })
  await page.mouse.up()
  expect(String(await page.evaluate('String(window.getSelection())')).length).toBeGreaterThan(2)
  expect(new URL(page.url()).pathname).toBe('/contacts')

  const opened = context.waitForEvent('page')
  await page.mouse.click(5, 5)
  await page.keyboard.down('Control')
  await page.mouse.click(middle.x, middle.y)
  await page.keyboard.up('Control')
  await (await opened).waitForURL('**/contacts/con_*')
  expect(new URL(page.url()).pathname).toBe('/contacts')

  await page.mouse.click(middle.x, middle.y)
  await page.getByRole('heading', { name: 'ada@example.com' }).waitFor()
})

test.each(sizes)('very long addresses, names and groups keep all columns reachable (%s)', async (size) => {
  const account = await registerOwner(service)
  const manage = (path: string, body: unknown) => service.manage(account.session, 'POST', `/organization${path}`, body)
  const label = 'x'.repeat(60)
  const email = `${label}@${label}.${label}.example`
  const group = await manage('/groups', { name: 'G'.repeat(150) })
  await manage('/contacts', { email, first_name: 'N'.repeat(150), group_ids: [group.body.data.id] })
  await manage('/contacts', { email: 'ada@example.com' })
  await manage('/suppressions', { email })
  await using tab = await openTab(browser, service, { size, account })
  const { page } = tab

  for (const [path, table] of [
    ['contacts', 'Contacts'],
    ['contacts/suppressions', 'Suppressions'],
    ['contacts/groups', 'Groups'],
  ] as const) {
    await page.goto(path)
    const shown = page.getByRole('table', { name: table })
    await shown.waitFor()
    expect([table, await beyondReach(shown)]).toEqual([table, 0])
  }
})

test('a long organization name does not widen the menu on a phone', async () => {
  const account = await registerOwner(service, 'The Incorporated Society of Very Long Names and Their Keepers')
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto('contacts')
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  const menu = page.getByRole('dialog')
  await menu.getByText('The Incorporated Society').waitFor()
  expect(await menu.evaluate((drawer) => drawer.scrollWidth - drawer.clientWidth)).toBe(0)
  const drawer = await menu.boundingBox()
  const button = await menu.getByRole('button', { name: /^Account/ }).boundingBox()
  expect((button?.x ?? 0) + (button?.width ?? 0)).toBeLessThanOrEqual((drawer?.x ?? 0) + (drawer?.width ?? 0))
})

test('filters survive a reload and the back button', async () => {
  const account = await registerOwner(service)
  const manage = (path: string, body: unknown) => service.manage(account.session, 'POST', `/organization${path}`, body)
  await manage('/suppressions', { email: 'ada@example.com' })
  const webhook = await manage('/webhooks', { name: 'Orders', url: 'https://example.com/hooks', all_events: true })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  for (const [path, filter, choice] of [
    ['messages', 'Status', 'Sent'],
    ['activity', 'Event type', 'Opened'],
    ['activity', 'Source', 'People only'],
    ['contacts/suppressions', 'Reason', 'Manual'],
    [`developers/webhooks/${webhook.body.data.id}`, 'Event type', 'Clicked'],
  ] as const) {
    await page.goto(path)
    const field = page.getByRole('combobox', { name: filter })
    await field.click()
    await page.getByRole('option', { name: choice }).click()
    await expect.poll(() => new URL(page.url()).search).not.toBe('')
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe(choice)
    await goTo(page, 'Overview')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goBack()
    await expect.poll(() => field.inputValue()).toBe(choice)
  }
})

test('a long list of groups is shown in pages and can be searched', async () => {
  const account = await registerOwner(service)
  const { body } = await service.manage(account.session, 'GET', '/me')
  const organizationId = parseId('org', body.data.organization.id)!
  await service.db.statement`
    insert into groups (organization_id, id, name)
    select ${organizationId}, gen_random_uuid(), 'Group ' || lpad(number::text, 4, '0')
    from generate_series(1, 1000) as number`
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/groups')
  const rows = page.getByRole('table', { name: 'Groups' }).locator('tbody tr')
  await page.getByRole('link', { name: 'Group 0050' }).waitFor()
  expect(await rows.count()).toBe(50)
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('link', { name: 'Group 0051' }).waitFor()
  expect(await rows.count()).toBe(100)
  await page.getByLabel('Search groups').fill('group 09')
  await page.waitForURL('**/groups?query=group+09')
  await page.getByRole('link', { name: 'Group 0999' }).waitFor()
  expect(await rows.count()).toBe(100)
  await page.getByLabel('Search groups').fill('nothing')
  await page.getByRole('heading', { name: 'No groups found' }).waitFor()
  expect(tab.problems).toEqual([])
})

test('the search finds webhooks, groups, broadcasts and segments, and reports when there are no results', async () => {
  const account = await registerOwner(service)
  const manage = (path: string, body: unknown) => service.manage(account.session, 'POST', `/organization${path}`, body)
  await manage('/groups', { name: 'Customers' })
  await manage('/webhooks', { name: 'Orders', url: 'https://example.com/hooks', all_events: true })
  await manage('/broadcasts', { name: 'November sale' })
  await manage('/segments', { name: 'Big spenders', filter: spenders })
  await manage('/domains', { name: 'https://mail.acme.example/' })
  await manage('/mail-servers', { name: 'Relay one', url: 'smtp://127.0.0.1:9' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts')
  await page.getByRole('heading', { name: 'Contacts', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('dialog').getByLabel('Search')
  await field.fill('zzzz')
  await page.getByText('No results').waitFor()
  await field.fill('custom')
  await page.getByRole('dialog').getByText('Customers').click()
  await page.waitForURL('**/contacts?group=*')
  await page.keyboard.press('Control+k')
  await field.fill('order')
  await page.getByRole('dialog').getByText('Orders', { exact: true }).click()
  await page.getByRole('heading', { name: 'Orders' }).waitFor()
  await page.keyboard.press('Control+k')
  await field.fill('november')
  await page.getByRole('dialog').getByText('November sale').click()
  await page.waitForURL('**/broadcasts/brc_*')
  await page.keyboard.press('Control+k')
  await field.fill('big sp')
  await page.getByRole('dialog').getByText('Big spenders').click()
  await page.waitForURL('**/contacts/segments/seg_*')
  // Pages by what they are for, and guides.
  for (const [text, found] of [
    ['domain', 'Domains'],
    ['warm', 'Domains'],
    ['compare', 'Compare broadcasts'],
    ['first real', 'Setup'],
    ['time zone', 'Time zone'],
    ['limits', 'Limits per mailbox provider'],
    ['smtp', 'Mail servers'],
    ['spf', 'Domains'],
    ['webhook retry', /Retries/],
  ] as const) {
    await page.keyboard.press('Control+k')
    await field.fill(text)
    const result = page.getByRole('dialog').locator('[data-action]').filter({ hasText: found }).first()
    await result.waitFor()
    await page.keyboard.press('Escape')
    await result.waitFor({ state: 'hidden' })
  }
  await page.keyboard.press('Control+k')
  await field.fill('relay')
  await page.getByRole('dialog').getByText('Relay one').click()
  await page.waitForURL('**/sending/mail-servers/mse_*')
  await page.keyboard.press('Control+k')
  await field.fill('acme.exam')
  await page.getByRole('dialog').getByText('mail.acme.example').click()
  await page.waitForURL('**/sending/domains/dom_*')
})

test('an ID pasted into the search opens its record, and commands can be run', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  const account = await registerOwner(service)
  const manage = async (path: string, body: unknown) =>
    (await service.manage(account.session, 'POST', `/organization${path}`, body)).body.data
  const flow = await createFlow(service, account)
  const group = await manage('/groups', { name: 'Customers' })
  const contact = await manage('/contacts', { email: 'ada@example.com' })
  const webhook = await manage('/webhooks', { name: 'Orders', url: 'https://example.com/hooks', all_events: true })
  const key = await manage('/api-keys', { name: 'Shop' })
  const broadcast = await manage('/broadcasts', { name: 'November sale' })
  const segment = await manage('/segments', { name: 'Big spenders', filter: spenders })
  const sent = await manage(`/flows/${flow}/send`, { contact_email: 'ada@example.com', context: { name: 'Ada' } })
  await service.manage(account.session, 'PATCH', `/organization/contacts/${contact.id}`, { status: 'unsubscribed' })
  const event = (
    await service.manage(account.session, 'GET', `/organization/events?contact_id=${contact.id}`)
  ).body.data.find(({ event_name }: { event_name: string }) => event_name === 'contactUnsubscribe')
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  for (const [path, label, id, found] of [
    ['flows', 'Search flows', flow, 'Order confirmation'],
    ['contacts/groups', 'Search groups', group.id, 'Customers'],
    ['messages', 'Search messages', flow, 'Your order'],
    ['contacts/suppressions', 'Search addresses', contact.id, 'ada@example.com'],
  ] as const) {
    await page.goto(path)
    await page.getByLabel(label).fill(id)
    await page.waitForURL(`**?query=${id}`)
    await page.getByRole('table').getByText(found).first().waitFor()
  }
  await page.goto('settings/suppressions')
  await page.waitForURL('**/contacts/suppressions')
  const field = page.getByRole('dialog').getByLabel('Search')
  for (const [id, label, url] of [
    [flow, 'Order confirmation', `**/flows/${flow}`],
    [group.id, 'Customers', `**/contacts?group=${group.id}`],
    [contact.id, 'ada@example.com', `**/contacts/${contact.id}`],
    [webhook.id, 'Orders', `**/developers/webhooks/${webhook.id}`],
    [sent.message_id, 'Your order', `**/messages/${sent.message_id}`],
    [key.id, 'Shop', '**/developers/api-keys'],
    [broadcast.id, 'November sale', `**/broadcasts/${broadcast.id}`],
    [segment.id, 'Big spenders', `**/contacts/segments/${segment.id}`],
    [event.id, 'contactUnsubscribe', `**/contacts/${contact.id}`],
  ] as const) {
    await page.getByRole('main').waitFor()
    await page.keyboard.press('Control+k')
    await field.fill(` ${id} `)
    await page.getByRole('dialog').getByText(label, { exact: true }).click()
    await page.waitForURL(url)
  }
  await page.keyboard.press('Control+k')
  await field.fill('password')
  await page.getByRole('dialog').getByText('Change password').click()
  await page.getByRole('dialog', { name: /password/i }).waitFor()

  await page.keyboard.press('Escape')
  for (const command of ['Create broadcast', 'Add contact']) {
    await page.keyboard.press('Control+k')
    await field.fill(command)
    await page.getByRole('dialog').getByRole('button', { name: command }).click()
    await page.getByRole('dialog', { name: command }).waitFor()
    // The command does not open the dialog again.
    await page.reload()
    await page.getByRole('button', { name: command }).first().waitFor()
    expect(await page.getByRole('dialog', { name: command }).count()).toBe(0)
  }
  await page.keyboard.press('Control+k')
  await field.fill('Create segment')
  await page.getByRole('dialog').getByRole('button', { name: 'Create segment' }).click()
  await page.waitForURL('**/contacts/segments/new')
  expect(tab.problems).toEqual([])
})

async function addContacts(service: Service, account: Account, emails: string[]): Promise<void> {
  for (const email of emails) await service.manage(account.session, 'POST', '/organization/contacts', { email })
}

/** Returns how many pixels of a table can be reached neither in its frame nor in the window. */
const beyondReach = (table: Locator) =>
  table.evaluate((element) => {
    const { documentElement: root, defaultView: view } = element.ownerDocument
    const frame = element.parentElement
    const scrolls = view.getComputedStyle(frame).overflowX === 'auto'
    const hidden = scrolls ? 0 : frame.scrollWidth - frame.clientWidth
    return hidden + Math.max(0, root.scrollWidth - view.innerWidth)
  })

test('a flow is found and chosen however many there are, also in the filter of the messages', async () => {
  const account = await registerOwner(service)
  const post = async (path: string, body: object) =>
    (await service.manage(account.session, 'POST', `/organization${path}`, body)).body.data
  const oldest = await post('/flows', { ...orderFlow, name: 'Autumn letter', kind: 'marketing' })
  const [row] = await service.db<{ organizationId: string }>`
    select organization_id from flows where id = ${parseId('flw', oldest.id)}`
  // Ids are ordered by time, so these flows are newer.
  await service.db.statement`
    insert into flows (organization_id, id, name, kind, status, version_id)
    select organization_id, overlay(gen_random_uuid()::text placing 'ffffffff' from 1 for 8)::uuid, 'Flow ' || n, kind,
      status, version_id
    from flows, generate_series(1, 120) n
    where organization_id = ${row!.organizationId} and id = ${parseId('flw', oldest.id)}`
  const broadcast = await post('/broadcasts', { name: 'News', flow_id: oldest.id })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const flow = page.getByRole('combobox', { name: 'Flow' })

  await page.goto(`broadcasts/${broadcast.id}`)
  await expect.poll(() => flow.inputValue()).toBe('Autumn letter')
  await flow.fill('Flow 7')
  await page.getByRole('option', { name: 'Flow 7', exact: true }).click()
  await flow.fill('autumn')
  await page.getByRole('option', { name: 'Autumn letter' }).click()
  await flow.fill('no such flow')
  await page.getByText('No active flows found').waitFor()

  await page.goto(`messages?flow=${oldest.id}`)
  await expect.poll(() => flow.inputValue()).toBe('Autumn letter')
  expect(tab.problems).toEqual([])
})
