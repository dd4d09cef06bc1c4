import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { callUrl } from '../support/test-app.ts'
import { longTestMsMax } from '../support/time-limits.ts'
import { until } from '../support/until.ts'
import { barriers, barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { chooseAction, openTab, sizes } from './support/pages.ts'
import { organizationApi, registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()
const account = await registerOwner(service)
const screens = await fill()

test.each(sizes)(
  'no screen has a serious accessibility problem, overflows its window or logs an error (%s)',
  { timeout: longTestMsMax.manyPages },
  async (size) => {
    await using tab = await openTab(browser, service, { size, account })
    const { page } = tab
    const check = size === 'desktop' ? barriersInBothThemes : barriers
    const found: Record<string, string[]> = {}
    await show(page, nowhere)
    for (const [name, path] of Object.entries(screens)) {
      await follow(page, path)
      const problems = [...(await check(page)), ...(await overflow(page)), ...tab.problems.splice(0)]
      if (problems.length > 0) found[name] = problems
    }
    expect(found).toEqual({})
  },
)

test('no dialog has a serious accessibility problem', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const found: Record<string, string[]> = {}
  const look = async (name: string) => {
    await page.getByRole('dialog').waitFor()
    const problems = await barriersInBothThemes(page)
    if (problems.length > 0) found[name] = problems
  }

  await show(page, 'developers/webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  await look('add webhook')
  await show(page, 'developers/api-keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await look('create key')
  await show(page, screens.contact ?? '')
  await chooseAction(page, 'Erase contact')
  await look('erase')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Edit' }).click()
  await look('edit contact')
  await show(page, 'flows')
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('Search, paste an ID, or run a command').fill('ada')
  await page
    .getByRole('button', { name: /ada@example.com/ })
    .first()
    .waitFor()
  await look('search')
  expect(found).toEqual({})
})

test('the pages for signing in and for a forgotten password have no serious accessibility problem', async () => {
  await using tab = await openTab(browser, service)
  for (const path of ['login', 'register', 'forgot-password', 'reset-password#rst_wrong', 'confirm-email#eml_wrong']) {
    await show(tab.page, path)
    expect([path, await barriersInBothThemes(tab.page)]).toEqual([path, []])
  }
})

test('the search finds a contact and opens it by keyboard', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await show(page, 'flows')
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('Search, paste an ID, or run a command').fill('ada@')
  // Not the message to this address, which may be found first.
  await page.getByRole('button', { name: /^ada@example.com/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'ada@example.com' }).waitFor()
})

test('a page that fails to load shows an error and loads when the server responds again', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.route('**/api/v1/organization/contacts*', (route) => route.abort())
  await page.goto('contacts')
  await page.getByRole('alert').getByText('Waxwing can’t be reached.').waitFor()
  await page.unroute('**/api/v1/organization/contacts*')
  await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
})

test('an unknown contact is not found, and no retry is offered', async () => {
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('contacts/con_00000000000000000000000000')
  await page.getByRole('alert').getByText('Not found').waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  expect(await page.evaluate("document.querySelectorAll('head > title').length")).toBe(1)
})

test('an unknown address shows an error page', async () => {
  await using tab = await openTab(browser, service, { account })
  await tab.page.goto('no/such/page')
  await tab.page.getByRole('heading', { name: 'This page doesn’t exist' }).waitFor()
  await tab.page.goto('contacts/con_01hzzzzzzzzzzzzzzzzzzzzzzz')
  await tab.page.getByRole('alert').getByText('Not found').waitFor()
})

async function show(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await shown(page)
}

async function shown(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
}

const nowhere = 'no/such/page'

/** Opens a screen from the last one, without loading the app again, by way of the error page, so that nothing of it is left. */
async function follow(page: Page, path: string): Promise<void> {
  const lost = page.getByRole('heading', { name: 'This page doesn’t exist' })
  for (const next of [nowhere, path]) {
    await page.evaluate(`
      history.pushState({ idx: history.state.idx + 1, key: String(history.length) }, '', ${JSON.stringify(service.url + next)})
      dispatchEvent(new PopStateEvent('popstate', { state: history.state }))`)
    await lost.waitFor({ state: next === nowhere ? 'visible' : 'hidden' })
  }
  await shown(page)
}

async function overflow(page: Page): Promise<string[]> {
  const pixels = (await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')) as number
  return pixels > 0 ? [`is ${pixels} pixels too wide`] : []
}

/** Creates data for every screen and returns the paths of the screens. */
async function fill(): Promise<Record<string, string>> {
  const manage = organizationApi(service, account)
  const group = await manage('POST', '/groups', { name: 'Customers' })
  const contact = await manage('POST', '/contacts', {
    email: 'ada@example.com',
    first_name: 'Ada',
    attributes: { plan: 'pro' },
    group_ids: [group.id],
  })
  const flow = await manage('POST', '/flows', {
    name: 'Order confirmation',
    kind: 'transactional',
    subject: 'Your order {{ order_id }}',
    html: '<h1>Hello {{ contact.first_name | default: "you" }}</h1><p>Order {{ order_id }}</p>',
  })
  await manage('PATCH', `/flows/${flow.id}`, { html: '<h1>Hello</h1><p>Order {{ order_id }}</p>' })
  const sent = await manage('POST', `/flows/${flow.id}/send`, {
    contact_email: 'ada@example.com',
    context: { order_id: 'A-1' },
  })
  await manage('POST', '/suppressions', { email: 'gone@example.com' })
  const { api_key: key } = await manage('POST', '/api-keys', { name: 'Shop' })
  const body = { group_id: group.id, members: [{ email: 'nobody' }], password: 'secret' }
  const url = `${service.url}public/api/v1/contacts/add-group-members`
  const rejected = await callUrl('POST', url, { headers: { 'x-api-token': key }, body })
  const requestId = rejected.headers.get('x-request-id')
  const domain = await manage('POST', '/domains', { name: 'shop.example.com' })
  const webhook = await manage('POST', '/webhooks', { name: 'Orders', url: 'http://127.0.0.1:9/', all_events: true })
  const eventExport = await manage('POST', '/event-exports', {
    name: 'Warehouse',
    endpoint: 'http://127.0.0.1:9',
    region: 'eu-central-1',
    bucket: 'acme-events',
    prefix: 'waxwing',
    access_key_id: 'AKIAEXAMPLE',
    secret_access_key: 'secret',
  })
  const tested = await manage('POST', `/webhooks/${webhook.id}/test`, { event_name: 'emailOpen' })
  await manage('POST', '/invitations', { email: 'grace@acme.example', role: 'member' })
  await until('the email to arrive in the inbox', async () =>
    (await manage('GET', '/inbox')).some(({ id }: { id: string }) => id === sent.message_id),
  )
  await until('the request to be stored', async () => (await manage('GET', '/api-requests')).length === 1)
  const draft = await manage('POST', '/broadcasts', { name: 'May news', flow_id: flow.id, service_announcement: true })
  const content = {
    kind: 'marketing',
    subject: 'News',
    html: '<p>News. <a href="https://acme.example/">Read more</a></p>',
  }
  const letter = await manage('POST', '/flows', { name: 'Newsletter', ...content })
  const audience = { group_ids: [group.id] }
  const news = await manage('POST', '/broadcasts', { name: 'News', flow_id: letter.id, audience })
  await manage('POST', `/broadcasts/${news.id}/start`, {})
  await until('the broadcast to be sent', async () => (await manage('GET', `/broadcasts/${news.id}`)).status === 'sent')
  const filter = { type: 'status', operator: 'is', value: 'subscribed' }
  const segment = await manage('POST', '/segments', { name: 'Subscribed', filter })
  const server = await manage('POST', '/mail-servers', { name: 'Relay', url: 'smtp://127.0.0.1:9' })
  const csv = { 'content-type': 'text/csv', authorization: `Bearer ${account.session}` }
  const upload = `${service.url}api/v1/organization/contacts/import`
  const imported = (await callUrl('POST', upload, { headers: csv, raw: 'email\nbob@example.com\nnobody\n' })).body.data
  await until('the import', async () => (await manage('GET', `/imports/${imported.id}`)).status === 'done')
  return {
    overview: '',
    flows: 'flows',
    'new flow': 'flows/new?starter=order',
    starters: 'flows/starters',
    brand: 'settings/brand',
    images: 'flows/images',
    parts: 'flows/parts',
    results: `flows/${flow.id}`,
    flow: `flows/${flow.id}/edit`,
    versions: `flows/${flow.id}/versions`,
    use: `flows/${flow.id}/use`,
    broadcasts: 'broadcasts',
    'broadcast draft': `broadcasts/${draft.id}`,
    'broadcast results': `broadcasts/${news.id}`,
    comparison: 'broadcasts/compare',
    segments: 'contacts/segments',
    segment: `contacts/segments/${segment.id}`,
    'new segment': 'contacts/segments/new',
    contacts: 'contacts',
    contact: `contacts/${contact.id}`,
    groups: 'contacts/groups',
    imports: 'contacts/imports',
    'new import': 'contacts/imports/new',
    import: `contacts/imports/${imported.id}`,
    messages: 'messages',
    message: `messages/${sent.message_id}`,
    activity: 'activity',
    inbox: 'inbox',
    mail: `inbox/${sent.message_id}`,
    webhooks: 'developers/webhooks',
    webhook: `developers/webhooks/${webhook.id}`,
    ...(tested.delivery_id && { delivery: `developers/webhooks/${webhook.id}/deliveries/${tested.delivery_id}` }),
    'API keys': 'developers/api-keys',
    exports: 'developers/exports',
    export: `developers/exports/${eventExport.id}`,
    'API requests': 'developers/api-requests',
    'API request': `developers/api-requests/${requestId}`,
    suppressions: 'contacts/suppressions',
    domains: 'sending/domains',
    domain: `sending/domains/${domain.id}`,
    'mail servers': 'sending/mail-servers',
    'mail server': `sending/mail-servers/${server.id}`,
    'receiving sites': 'sending/mail-servers/limits',
    sending: 'sending/setup',
    team: 'settings/team',
    organization: 'settings/organization',
    profile: 'settings/profile',
  }
}
