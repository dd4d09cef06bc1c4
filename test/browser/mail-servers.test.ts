import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { orderFlow } from '../support/flows.ts'
import { type RawSmtp, startRawSmtp } from '../support/raw-smtp.ts'
import { startRelay } from '../support/relay.ts'
import { freePort } from '../support/service.ts'
import { until } from '../support/until.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { chooseAction, openTab, segment, sizes } from './support/pages.ts'
import { organizationApi, registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService({})

/** Whether it is in the visible part of the page, as a whole. */
async function isInView(element: Locator): Promise<boolean> {
  const [box, size] = [await element.boundingBox(), element.page().viewportSize()]
  return box !== null && size !== null && box.y >= 0 && box.y + box.height <= size.height
}

/** Accepts one password. */
const startProvider = () =>
  startRawSmtp({
    extensions: ['AUTH PLAIN'],
    answer: ({ verb, line }) => {
      if (verb !== 'AUTH') return undefined
      const [, , password] = Buffer.from(line.split(' ')[2]!, 'base64').toString().split('\0')
      return password === 'right' ? '235 2.7.0 Ok' : '535 5.7.8 Authentication failed'
    },
  })

/** Lets the preset of Postmark lead to a provider on this machine. */
async function useProvider(page: Page, { port }: RawSmtp): Promise<void> {
  await page.route('**/mail-server-presets', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const postmark = body.data.find(({ id }: { id: string }) => id === 'postmark')
    const [transactional, broadcast] = postmark.hosts
    const hosts = [{ ...transactional, host: '127.0.0.1' }, broadcast]
    Object.assign(postmark, { hosts, port, security: 'none' })
    await route.fulfill({ response, json: body })
  })
}

/** The stream decides which kinds of email are sent. */
async function choosePostmark(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Provider' }).click()
  await page.getByRole('option', { name: 'Postmark' }).click()
  await dialog.getByText('Each message stream accepts one kind of email.', { exact: false }).waitFor()
  const marketing = dialog.getByRole('checkbox', { name: 'Marketing email' })
  const chooseStream = async (name: string) => {
    await dialog.getByRole('combobox', { name: 'Message stream' }).click()
    await page.getByRole('option', { name }).click()
  }
  await chooseStream('Broadcast stream')
  expect(await marketing.isChecked()).toBe(true)
  await chooseStream('Transactional stream')
  expect(await marketing.isChecked()).toBe(false)
  await marketing.click()
  await dialog.getByText('Postmark does not accept marketing email at “Transactional stream”.').waitFor()
  expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Postmark')
}

/** A connection that does not work is not added. */
async function failTest(page: Page, password: Locator): Promise<void> {
  const dialog = page.getByRole('dialog')
  await password.fill('wrong')
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  const result = dialog.getByText('The connection doesn’t work')
  await result.waitFor()
  expect(await isInView(result)).toBe(true)
  const steps = dialog.getByRole('list', { name: 'Steps of the test' })
  await steps.getByText('535 5.7.8 Authentication failed. Check the user name', { exact: false }).waitFor()
  expect(await steps.getByRole('listitem').count()).toBe(5)
  expect(await isInView(steps.getByRole('listitem').last())).toBe(true)
  expect(await barriersInBothThemes(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Add mail server' }).click()
  await dialog.getByText('The mail server was not added, because the connection doesn’t work.').waitFor()
}

test('a mail server is added by its provider, tested until it works, edited and deleted (phone)', async () => {
  await using provider = await startProvider()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account, size: 'phone' })
  const { page } = tab
  await useProvider(page, provider)
  await page.goto('sending/mail-servers')
  await page.getByRole('button', { name: 'Add mail server' }).click()
  const dialog = page.getByRole('dialog')
  await choosePostmark(page)
  await dialog.getByRole('button', { name: 'Add mail server' }).click()
  await dialog.getByText('Server API token is required.').waitFor()
  // The token is also the user name, and asked for once.
  expect(await dialog.getByLabel('User name').count()).toBe(0)
  const password = dialog.getByRole('textbox', { name: 'Server API token' })
  await failTest(page, password)
  await password.fill('right')
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await dialog.getByText('The connection works', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Add mail server' }).click()
  await page.getByRole('heading', { name: 'Postmark' }).waitFor()
  await page.getByText('Working', { exact: true }).waitFor()
  await page.getByRole('term').filter({ hasText: 'Tested' }).waitFor()
  await page.getByText('Password', { exact: true }).waitFor()
  expect(await page.getByText('Not tested').count()).toBe(0)
  expect(provider.commands.filter((command) => command.startsWith('AUTH'))).toHaveLength(3)
  await page.getByText('/providers/mail-servers/', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Copy webhook address' }).waitFor()
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('Working', { exact: true }).waitFor()

  await chooseAction(page, 'Edit')
  await dialog.getByRole('checkbox', { name: 'Transactional email' }).click()
  await dialog.getByRole('button', { name: 'Order and limits' }).click()
  await dialog.getByLabel('Emails per day').fill('500')
  await dialog.getByLabel('Only from these domains').fill('example.com')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Marketing email from example.com').waitFor()
  await page.getByText('500 per day, 5 connections').waitFor()
  expect(await page.getByText('Working', { exact: true }).count()).toBe(1)
  expect(await barriersInBothThemes(page)).toEqual([])
  await chooseAction(page, 'Delete')
  await page.getByRole('button', { name: 'Delete mail server' }).click()
  await page.getByText('No mail servers yet').waitFor()
  expect(tab.problems).toEqual([])
})

test('a mail server that doesn’t work is added only after a confirmation, and says when it is tried again', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const port = await freePort()
  await page.goto('sending/mail-servers')
  await page.getByRole('button', { name: 'Add mail server' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add mail server' })
  await dialog.getByRole('combobox', { name: 'Provider' }).click()
  await page.getByRole('option', { name: 'Another mail server' }).click()
  await dialog.getByLabel('Name', { exact: true }).fill('Relay')
  await dialog.getByLabel('Host').fill('127.0.0.1')
  await dialog.getByLabel('Port').fill(String(port))
  await segment(page, 'Sign in with', 'None').click()
  // Never tested: it is tested before it is added.
  await dialog.getByRole('button', { name: 'Add mail server' }).click()
  await dialog.getByText('The mail server was not added, because the connection doesn’t work.').waitFor()
  expect(await isInView(dialog.getByText('The connection doesn’t work', { exact: true }))).toBe(true)
  const servers = async () => (await service.manage(account.session, 'GET', '/organization/mail-servers')).body.data
  expect(await servers()).toEqual([])
  const question = page.getByRole('dialog', { name: 'Add a mail server that doesn’t work?' })
  await dialog.getByRole('button', { name: 'Add without a working test' }).click()
  await question.getByText('Emails are tried with it at once.', { exact: false }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await servers()).toEqual([])
  await dialog.getByRole('button', { name: 'Add without a working test' }).click()
  await question.getByRole('button', { name: 'Add it anyway' }).click()
  await page.getByRole('heading', { name: 'Relay', level: 1 }).waitFor()
  await page.getByText('Not tested', { exact: true }).waitFor()
  expect(await servers()).toMatchObject([{ name: 'Relay', status: 'untested' }])

  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('The connection doesn’t work').waitFor()
  await page.reload()
  await page
    .getByText(/Next attempt in \d+ seconds|Next attempt in 1 minute/)
    .first()
    .waitFor()
  await service.db.statement`update mail_servers set next_try_at = now() - interval '1 second'`
  await page.reload()
  await page.getByText('Without one, emails wait. Retrying now.').waitFor()

  // A connection that was changed is tested at once.
  await using provider = await startProvider()
  await chooseAction(page, 'Edit')
  const editing = page.getByRole('dialog', { name: 'Edit mail server' })
  await editing.getByLabel('Port').fill(String(provider.port))
  await editing.getByRole('combobox', { name: 'Encryption' }).click()
  await page.getByRole('option', { name: 'None', exact: true }).click()
  await editing.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The connection works', { exact: true }).waitFor()
  await page.getByText('Working', { exact: true }).waitFor()
  expect(tab.problems).toEqual([])
})

test('while the first mail server fails, a banner says so and the message shows the second, which carried it', async () => {
  await using provider = await startProvider()
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const refusing = `smtp://127.0.0.1:${await freePort()}`
  await manage('POST', '/mail-servers', { name: 'First', url: refusing, priority: 1 })
  await manage('POST', '/mail-servers', { name: 'Second', url: provider.url, priority: 2 })
  const flow = await manage('POST', '/flows', orderFlow)
  const sent = await manage('POST', `/flows/${flow.id}/send`, {
    contact_email: 'ada@example.com',
    context: { order_id: 1 },
  })
  await until('the email to arrive', () => provider.mails.length === 1)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto(`messages/${sent.message_id}`)
  await page.getByText('Sent', { exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Second' }).waitFor()
  const banner = page.getByRole('status').filter({ hasText: 'The mail server First does not accept email' })
  await banner.getByText('Sent through Second instead.', { exact: false }).waitFor()
  await banner.getByRole('link', { name: 'Mail servers' }).click()
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await row('First').getByText('Failing').waitFor()
  await row('Second').getByText('Working').waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
})

test('an email that waits names the limit and when it is tried again, at the top of its page', async () => {
  await using relay = await startRelay()
  const account = await registerOwner(service)
  const post = async (path: string, body: object) =>
    (await service.manage(account.session, 'POST', `/organization${path}`, body)).body.data
  await post('/mail-servers', { name: 'Main', url: relay.url, messages_per_day: 1 })
  const flow = await post('/flows', orderFlow)
  const send = () => post(`/flows/${flow.id}/test`, { to: 'ada@example.com', context: { order_id: 1042 } })
  await send()
  await until('the first email', () => relay.mails.length === 1)
  const { message_id: id } = await send()
  await until('the limit', async () => {
    const message = await service.manage(account.session, 'GET', `/organization/messages/${id}`)
    return message.body.data.waiting?.cause === 'limit'
  })

  for (const size of sizes) {
    await using tab = await openTab(browser, service, { size, account })
    const { page } = tab
    await page.goto(`messages/${id}`)
    const notice = page.getByRole('status').filter({ hasText: 'Not sent yet: waits because of a limit' })
    await notice.waitFor()
    expect(await notice.innerText()).toMatch(/Daily limit of Main\. Next attempt (at|on|in|tomorrow)/)
    expect(await isInView(notice)).toBe(true)
    expect(await page.getByText('Mail server reply').count()).toBe(0)
    expect(await barriersInBothThemes(page)).toEqual([])
    expect(tab.problems).toEqual([])
  }
})
