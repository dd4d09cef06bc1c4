import { expect, test } from 'vitest'
import { type OtherRecords, startNameServer } from '../support/name-server.ts'
import { startRelay } from '../support/relay.ts'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const published = new Map<string, OtherRecords>()
const names = await startNameServer(
  () => [],
  (name) => published.get(name) ?? {},
)
const browser = await sharedBrowser()
const service = await startSharedService({ DNS_SERVERS: names.address })

test('the guided page leads from the built-in inbox to an email that has arrived', async () => {
  await using relay = await startRelay()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const api = async (method: string, path: string, body?: object) =>
    (await service.manage(account.session, method, `/organization${path}`, body)).body.data
  const step = (title: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })
  const done = (title: string) => step(title).getByRole('img', { name: 'Done' })

  await page.goto('settings/sending')
  await page.getByRole('link', { name: 'Send your first real email' }).click()
  await step('Connect a mail server').getByText('Emails stay in the built-in inbox', { exact: false }).waitFor()
  await step('Verify your domain').getByText('Add the domain of your From address', { exact: false }).waitFor()

  const server = await api('POST', '/mail-servers', { name: 'Main', url: relay.url })
  await step('Connect a mail server').getByText('Main has not been tested yet.').waitFor()
  await api('POST', `/mail-servers/${server.id}/test`)
  await done('Connect a mail server').waitFor()

  const domain = await api('POST', '/domains', { name: 'shop.example.com' })
  await step('Verify your domain').getByText('shop.example.com waits for 2 DNS records', { exact: false }).waitFor()
  for (const record of domain.records) if (record.required) published.set(record.name, { txt: [record.value] })
  await api('POST', `/domains/${domain.id}/verify`)
  await done('Verify your domain').waitFor()

  await page.reload()
  const send = step('Send an email to yourself')
  await expect.poll(() => send.getByLabel('From').inputValue()).toBe('hello@shop.example.com')
  await send.getByRole('button', { name: 'Send it' }).click()
  await send.getByText('Accepted by Main.', { exact: false }).waitFor()
  const { mail, raw } = await until('the email', () => relay.mails[0])
  expect(mail.from?.address).toBe('hello@shop.example.com')
  expect(raw).toMatch(/^DKIM-Signature:.*d=shop\.example\.com/m)

  // The recipient clicks the link.
  const link = /href="([^"]+)"/.exec(mail.html!)![1]!.replaceAll('&amp;', '&')
  await fetch(link, {
    redirect: 'manual',
    headers: { 'user-agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)' },
  })
  await send.getByText('It has arrived: real email works.').waitFor()
  await done('Send an email to yourself').waitFor()
  expect(tab.problems).toEqual([])
})
