import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { parseId } from '../../src/platform/values/ids.ts'
import { longTestMsMax } from '../support/time-limits.ts'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { type Account, organizationApi, registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

async function choose(page: Page, within: Locator, label: string, option: string): Promise<void> {
  await within.getByRole('combobox', { name: label, exact: true }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const rows = (page: Page) => page.getByRole('table', { name: 'Contacts' }).getByRole('link')

/** Three contacts, and a broadcast behind many newer drafts. */
async function fill(account: Account): Promise<void> {
  const manage = organizationApi(service, account)
  const group = await manage('POST', '/groups', { name: 'Customers' })
  await manage('POST', '/contacts', {
    email: 'ada@example.com',
    attributes: { plan: 'pro', seats: 12 },
    group_ids: [group.id],
  })
  await manage('POST', '/contacts', { email: 'bob@example.com', attributes: { plan: 'pro', seats: 3 } })
  await manage('POST', '/contacts', { email: 'eve@example.com', attributes: { plan: 'free', seats: 40 } })
  const { id: sentId } = await manage('POST', '/broadcasts', { name: 'Spring news' })
  await service.db.statement`
    insert into broadcasts
    select (jsonb_populate_record(broadcasts, jsonb_build_object('id', gen_random_uuid(), 'name', 'Draft ' || n))).*
    from broadcasts, generate_series(1, 60) as n where id = ${parseId('brc', sentId)!}`
  await service.db.statement`
    update broadcasts set status = 'cancelled', started_at = now() where id = ${parseId('brc', sentId)!}`
}

async function applyFilter(page: Page): Promise<void> {
  await page.goto('contacts')
  await page.getByText('3 contacts', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  const panel = page.getByRole('region', { name: 'Filter' })
  const first = panel.getByRole('group', { name: 'Condition 1' })
  await choose(page, first, 'Field', 'Attribute')
  await first.getByLabel('Attribute name').fill('seats')
  // The type follows from the values of the attribute.
  await choose(page, first, 'Operator', 'is at least')
  await first.getByLabel('Value').fill('10')
  await panel.getByRole('button', { name: 'Add condition' }).click()
  const second = panel.getByRole('group', { name: 'Condition 2' })
  await choose(page, second, 'Field', 'Has not opened')
  await second.getByLabel('Days').fill('60')
  await second.getByText('days', { exact: true }).waitFor()
  expect(await second.getByLabel('Times').count()).toBe(0)
  await second.getByRole('button', { name: 'More' }).click()
  await second.getByText('time', { exact: true }).waitFor()
  await second.getByLabel('Times').fill('2')
  await second.getByText('times', { exact: true }).waitFor()
  await second.getByLabel('Times').fill('1')
  expect(await barriers(page)).toEqual([])
  await panel.getByRole('button', { name: 'Apply filter' }).click()
  await page.getByText('seats is at least 10 and has not opened any email in the last 60 days').waitFor()
  await page.getByText('2 contacts', { exact: true }).waitFor()
  await expect.poll(() => rows(page).allTextContents()).toEqual(['eve@example.com', 'ada@example.com'])
  await page.reload()
  await page.getByText('2 contacts', { exact: true }).waitFor()
}

async function saveSegment(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Save as segment' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Large teams')
  await page.getByText('2 contacts', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Add condition' }).click()
  const third = page.getByRole('group', { name: 'Condition 3' })
  // Broadcasts are searched: the newest ones here are drafts, which nobody received.
  await choose(page, third, 'Field', 'Broadcast')
  const broadcast = third.getByRole('combobox', { name: 'Value' })
  await broadcast.fill('spring')
  await page.getByRole('option', { name: 'Spring news' }).click()
  await expect.poll(() => broadcast.inputValue()).toBe('Spring news')
  await broadcast.click()
  expect(await page.getByRole('option').allInnerTexts()).toEqual(['Spring news'])
  await page.keyboard.press('Escape')
  await choose(page, third, 'Field', 'Group')
  expect(await page.getByRole('button', { name: 'Create segment' }).isDisabled()).toBe(true)
  await choose(page, third, 'Value', 'Customers')
  await page.getByText('1 contact', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Create segment' }).click()
  await page.getByRole('combobox', { name: 'Segment' }).waitFor()
  await page.getByText('1 contact', { exact: true }).waitFor()
  await expect.poll(() => rows(page).allTextContents()).toEqual(['ada@example.com'])
}

test('a filter is built, applied, saved as a segment, edited and deleted', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  const account = await registerOwner(service)
  await fill(account)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await applyFilter(page)

  await saveSegment(page)

  await page.goto('contacts/segments')
  await page.getByText('is a member of Customers').waitFor()
  await page.getByText('1 contact', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Large teams' }).click()
  await page.getByRole('combobox', { name: 'Match in conditions' }).click()
  await page.getByRole('option', { name: 'any', exact: true }).click()
  await page.getByText('3 contacts', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Save segment' }).click()
  await page.getByText('Segment saved').waitFor()
  await page.getByRole('button', { name: 'Delete segment' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete segment' }).click()
  await page.getByText('No segments yet').waitFor()
  expect(tab.problems).toEqual([])
})
