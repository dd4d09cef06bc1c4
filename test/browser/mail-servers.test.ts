import { expect, test } from 'vitest'
import { orderFlow } from '../support/flows.ts'
import { startRawSmtp } from '../support/raw-smtp.ts'
import { freePort } from '../support/service.ts'
import { until } from '../support/until.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService({})

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

test('a mail server is added by its provider, tested until it works, edited and deleted (phone)', async () => {
  await using provider = await startProvider()
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account, size: 'phone' })
  const { page } = tab
  // The provider is on this machine.
  await page.route('**/mail-server-presets', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const postmark = body.data.find(({ id }: { id: string }) => id === 'postmark')
    const hosts = [{ host: '127.0.0.1', label: 'Transactional stream' }]
    Object.assign(postmark, { hosts, port: provider.port, security: 'none' })
    await route.fulfill({ response, json: body })
  })
  await page.goto('sending/mail-servers')
  await page.getByRole('button', { name: 'Add mail server' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Provider' }).click()
  await page.getByRole('option', { name: 'Postmark' }).click()
  await dialog.getByText('User name and password are both the server API token.', { exact: false }).waitFor()
  expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Postmark')
  await dialog.getByRole('button', { name: 'Add mail server' }).click()
  await dialog.getByText('Password is required.').waitFor()
  await dialog.getByLabel('User name').fill('the-token')
  const password = dialog.getByRole('textbox', { name: 'Password' })
  await password.fill('wrong')
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await dialog.getByText('The connection doesn’t work').waitFor()
  const steps = dialog.getByRole('list', { name: 'Steps of the test' })
  await steps.getByText('535 5.7.8 Authentication failed. Check the user name', { exact: false }).waitFor()
  expect(await steps.getByRole('listitem').count()).toBe(5)
  expect(await barriersInBothThemes(page)).toEqual([])
  await password.fill('right')
  await dialog.getByRole('button', { name: 'Test connection' }).click()
  await dialog.getByText('The connection works', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Add mail server' }).click()
  await page.getByRole('heading', { name: 'Postmark' }).waitFor()
  await page.getByText('Not tested').waitFor()
  await page.getByText('/providers/mail-servers/', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Copy webhook address' }).waitFor()
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('Working', { exact: true }).waitFor()

  const choose = async (action: string) => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await choose('Edit')
  await dialog.getByRole('checkbox', { name: 'Transactional email' }).click()
  await dialog.getByRole('button', { name: 'Order and limits' }).click()
  await dialog.getByLabel('Emails per day').fill('500')
  await dialog.getByLabel('Only from these domains').fill('example.com')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Marketing email from example.com').waitFor()
  await page.getByText('500 per day, 5 connections').waitFor()
  expect(await page.getByText('Working', { exact: true }).count()).toBe(1)
  expect(await barriersInBothThemes(page)).toEqual([])
  await choose('Delete')
  await page.getByRole('button', { name: 'Delete mail server' }).click()
  await page.getByText('No mail servers yet').waitFor()
  expect(tab.problems).toEqual([])
})

test('while the first mail server fails, a banner says so and the message shows the second, which carried it', async () => {
  await using provider = await startProvider()
  const account = await registerOwner(service)
  const manage = async (method: string, path: string, body?: unknown) =>
    (await service.manage(account.session, method, `/organization${path}`, body)).body.data
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
