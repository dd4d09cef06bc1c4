import { expect, test } from 'vitest'
import { callUrl } from '../support/test-app.ts'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab, segment } from './support/pages.ts'
import { organizationApi, registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('the list of requests leads from a key or a request id to the error and the redacted body', async () => {
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const { api_key: key } = await manage('POST', '/api-keys', { name: 'Shop' })
  const headers = { 'x-api-token': key }
  await callUrl('GET', `${service.url}public/api/v1/token/check`, { headers })
  const body = { group_id: 'grp_none', members: [{ email: 'ada@example.com' }], password: 'hunter2' }
  const rejected = await callUrl('POST', `${service.url}public/api/v1/contacts/add-group-members`, { headers, body })
  await until('the requests to be stored', async () => (await manage('GET', '/api-requests')).length === 2)

  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('developers/api-keys')
  await page.getByRole('link', { name: 'Requests of Shop' }).click()
  await page.getByText('Not every request of a busy key is kept').waitFor()
  const list = page.getByRole('table', { name: 'API requests' })
  await list.getByRole('link', { name: 'GET /public/api/v1/token/check' }).waitFor()
  await segment(page, 'Status', 'Rejected').click()
  await list.getByRole('link', { name: 'GET /public/api/v1/token/check' }).waitFor({ state: 'hidden' })
  await list.getByText('Group not found.').waitFor()

  await segment(page, 'Status', 'All').click()
  const requestId = rejected.headers.get('x-request-id')!
  await page.getByRole('searchbox', { name: 'Search requests' }).fill(requestId)
  await list.getByRole('link', { name: 'GET /public/api/v1/token/check' }).waitFor({ state: 'hidden' })
  await list.getByRole('link', { name: 'POST /public/api/v1/contacts/add-group-members' }).click()
  await page.getByText('not_found', { exact: true }).waitFor()
  await page.getByText(requestId, { exact: true }).waitFor()
  const shown = await page.getByRole('figure', { name: 'body' }).textContent()
  expect(JSON.parse(shown!)).toEqual({ ...body, password: '[redacted]' })
  expect(tab.problems).toEqual([])
})

test('a request shows its response, its email or why there is none, and a wrong path', async () => {
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const name = 'The key of the shop in the old town, for receipts and newsletters of the year'
  const { api_key: key } = await manage('POST', '/api-keys', { name })
  const html = '<p>Hello</p>'
  const flow = await manage('POST', '/flows', { name: 'Receipt', kind: 'transactional', subject: 'Thanks', html })
  await manage('POST', '/suppressions', { email: 'bob@example.com' })
  const headers = { 'x-api-token': key }
  const path = 'public/api/v1/flow/send-email-through-flow'
  const send = (email: string) =>
    callUrl('POST', `${service.url}${path}`, { headers, body: { flow_id: flow.id, contact_email: email } })
  const sent = (await send('ada@example.com')).body.data.message_id
  await send('bob@example.com')
  await callUrl('GET', `${service.url}public/api/v1/contacts`, { headers })
  await until('the requests to be stored', async () => (await manage('GET', '/api-requests')).length === 3)

  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('developers/api-requests')
  const rows = page.getByRole('table', { name: 'API requests' }).getByRole('row')
  const wrong = rows.filter({ hasText: 'GET /public/api/v1/contacts' })
  await wrong.getByText('Not found. Did you mean /api/v1/organization/contacts?').waitFor()
  await wrong.getByText('404', { exact: true }).waitFor()
  // A long name leaves room for the path.
  const link = rows.getByRole('link', { name: `POST /${path}` })
  const tops = await link.first().evaluate((element) => [...element.getClientRects()].map(({ top }) => top))
  expect(new Set(tops).size).toBe(1)

  await rows.filter({ hasText: 'not sent' }).getByRole('link').click()
  await page.getByText('Accepted, but not sent').waitFor()
  await page.getByText('200, not sent').waitFor()
  await page.goBack()
  await link.last().click()
  const response = page.getByRole('figure', { name: 'response' })
  expect(JSON.parse((await response.textContent())!).data).toMatchObject({ message_id: sent, status: 'queued' })
  await page.getByRole('link', { name: sent }).click()
  await page.waitForURL(`**/messages/${sent}`)
  expect(tab.problems).toEqual([])
})
