import { expect, test } from 'vitest'
import { startRelay } from '../support/relay.ts'
import { freePort } from '../support/service.ts'
import { until } from '../support/until.ts'
import { sharedBrowser } from './support/chromium.ts'
import { openTab } from './support/pages.ts'
import { join } from './support/people.ts'
import { organizationApi, registerOwner, startService, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('removing a suppression names every reason that is removed', async () => {
  const account = await registerOwner(service)
  const manage = (method: string, path: string, body?: unknown) =>
    service.manage(account.session, method, `/organization${path}`, body)
  const contact = await manage('POST', '/contacts', { email: 'ada@example.com' })
  await manage('PATCH', `/contacts/${contact.body.data.id}`, { status: 'unsubscribed' })
  for (const email of ['ada@example.com', 'nevada@example.com']) await manage('POST', '/suppressions', { email })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/suppressions')
  await page.getByRole('button', { name: 'Remove nevada@example.com' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove suppression' })
  await dialog.getByText('This removes every reason for this address: Manual.').waitFor()
  expect(await dialog.getByText('marketing email').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })

  // The other row is filtered out but still named.
  await page.getByRole('combobox', { name: 'Reason' }).click()
  await page.getByRole('option', { name: 'Manual' }).click()
  await page.getByRole('cell', { name: 'Unsubscribed' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Remove ada@example.com' }).click()
  await dialog.getByText('This removes every reason for this address: Manual, Unsubscribed.').waitFor()
  await dialog.getByText('This contact unsubscribed and will receive marketing email again.').waitFor()
  await dialog.getByRole('button', { name: 'Remove suppression' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const left = await manage('GET', '/suppressions')
  expect(left.body.data.map((row: { email: string }) => row.email)).toEqual(['nevada@example.com'])
})

test('the organization page shows how long events are kept, and saves changes', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('settings/organization')
  await page.getByText('Kept indefinitely', { exact: true }).waitFor()
  expect(await page.getByRole('combobox').count()).toBe(1)
  await page.getByLabel('Name').fill('Acme & Sons')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Organization saved.').waitFor()
  expect((await service.manage(account.session, 'GET', '/organization')).body.data.name).toBe('Acme & Sons')
})

test('Setup tells operators which settings to correct, and how emails and bounces are received', async () => {
  const port = String(await freePort())
  await using service = await startService({
    settings: { SMTP_URL: 'smtp://relay.invalid:25', PROVIDER_POSTMARK_TOKEN: 'a token', SUBMISSION_PORT: port },
  })
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('sending/setup')
  await page
    .getByText(/^Links and images in emails start with http:.* It is set by BASE_URL in the environment/)
    .waitFor()
  await page.getByText('leave as hello@localhost, which receivers reject', { exact: false }).waitFor()
  await page.getByText('Bounces and complaints arrive by Postmark.').waitFor()
  await page.getByRole('button', { name: 'Details' }).click()
  await page.getByText(/reported by Postmark/i).waitFor()
  await page.getByText(`127.0.0.1, port ${port}`).waitFor()
  await page.goto('developers/api-keys')
  const smtp = page.getByRole('region', { name: 'SMTP' })
  await smtp.getByText(`${port} (not encrypted, from this machine only)`).waitFor()
  await smtp.getByText('An API key with the permission “Send email without a flow”').waitFor()
  await smtp.getByRole('link', { name: 'SMTP' }).click()
  await page.getByRole('heading', { name: 'SMTP', exact: true }).waitFor()
  expect(tab.problems).toEqual([])
})

test('the dialog with the invitation link closes only by its confirmation button', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('settings/team')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
  const link = page.getByRole('figure', { name: 'invitation link' })
  await link.waitFor()
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  expect(await page.getByRole('button', { name: 'I’ve copied it' }).count()).toBe(1)
  expect(await link.textContent()).toContain('/invitation/')
  expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0)
  await page.getByRole('button', { name: 'I’ve copied it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
})

test('an owner who leaves the team is warned and signed out (phone)', async () => {
  const account = await registerOwner(service)
  const second = await join(service, account, 'grace@acme.example', 'owner')
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto('settings/team')
  await page.getByRole('button', { name: 'Leave team' }).click()
  const dialog = page.getByRole('dialog', { name: 'Leave team' })
  await dialog.getByText('You will lose access to Acme immediately and be signed out.').waitFor()
  await dialog.getByRole('button', { name: 'Leave team' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByText('You left Acme.').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  const members = await service.manage(second.session, 'GET', '/organization/members')
  expect(members.body.data.map(({ email }: { email: string }) => email)).toEqual(['grace@acme.example'])
  expect(tab.problems).toEqual([])
})

test('the last owner cannot leave, and stays signed in', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('settings/team')
  await page.getByRole('button', { name: 'Leave team' }).click()
  const dialog = page.getByRole('dialog', { name: 'Leave team' })
  await dialog.getByRole('button', { name: 'Leave team' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText(account.email).first().waitFor()
})

test('an owner permits a member to start broadcasts; a member sees role names and no actions column', async () => {
  const owner = await registerOwner(service)
  const account = await join(service, owner, 'hedy@acme.example', 'member')
  await using ownerTab = await openTab(browser, service, { account: owner })
  await ownerTab.page.goto('settings/team')
  const permission = ownerTab.page.getByRole('switch', { name: 'hedy@acme.example can start broadcasts' })
  expect(await permission.isChecked()).toBe(false)
  await permission.click()
  await until('the permission', async () => {
    const { body } = await service.manage(account.session, 'GET', '/me')
    return body.data.user.can_start_broadcasts === true
  })
  expect(ownerTab.problems).toEqual([])
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('settings/team')
  await page.getByRole('cell', { name: 'Owner', exact: true }).waitFor()
  await page.getByRole('cell', { name: 'Member', exact: true }).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0)

  await page.goto('settings/organization')
  await page.getByText('Only owners can change these settings.').waitFor()
  expect(await page.getByLabel('Name').isDisabled()).toBe(true)
})

test('API keys, webhooks and the side bar link to the API reference', async () => {
  await using service = await startService({ path: '/mail' })
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const reference = `${new URL(service.url).pathname}docs/`

  for (const path of ['developers/api-keys', 'developers/webhooks']) {
    await page.goto(path)
    expect(await page.getByRole('main').getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe(
      reference,
    )
  }
  const sideBar = page.getByRole('navigation', { name: 'Main' })
  expect(await sideBar.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe(reference)
  expect((await page.request.get(reference)).status()).toBe(200)
})

test('codes of the API are shown as text', async () => {
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const contact = await manage('POST', '/contacts', { email: 'ada@example.com' })
  await manage('PATCH', `/contacts/${contact.id}`, { status: 'unsubscribed' })
  const flow = await manage('POST', '/flows', {
    name: 'News',
    kind: 'marketing',
    subject: 'News',
    html: '<p>News <a href="{{ unsubscribe_url }}">leave</a></p>',
  })
  const test = await manage('POST', `/flows/${flow.id}/test`, { to: 'grace@example.com' })
  const refused = await manage('POST', `/flows/${flow.id}/test`, { to: 'ada@example.com' })
  await manage('POST', '/suppressions', { email: 'gone@example.com' })
  await service.db`update suppressions set detail = case reason when 'manual' then 'user_unknown' else 'page' end`
  await until('the email to be sent', async () => (await manage('GET', `/messages/${test.message_id}`)).sent_at)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`messages/${refused.message_id}`)
  await page.getByText('The contact unsubscribed from marketing email.').waitFor()
  await page.goto(`messages/${test.message_id}`)
  await page.getByText('Built-in inbox', { exact: true }).waitFor()
  expect(await page.getByText('Mail server reply').count()).toBe(0)
  await page.goto('contacts/suppressions')
  await page.getByRole('cell', { name: 'Unsubscribe page' }).waitFor()
  await page.getByRole('cell', { name: 'User unknown' }).waitFor()
})

test('the pages of a bounced message and its contact quote the line that decided the classification', async () => {
  await using relay = await startRelay()
  relay.onRecipient = () => ({ code: 550, text: 'Sorry, no such user here' })
  await using service = await startService({ settings: { SMTP_URL: relay.url } })
  const account = await registerOwner(service)
  const manage = organizationApi(service, account)
  const flow = await manage('POST', '/flows', {
    name: 'Welcome',
    kind: 'transactional',
    subject: 'Welcome',
    html: '<p>Welcome</p>',
  })
  const { message_id: id } = await manage('POST', `/flows/${flow.id}/send`, { contact_email: 'nobody@example.com' })
  await until('the bounce', async () => (await manage('GET', `/messages/${id}`)).status === 'bounced')
  await using tab = await openTab(browser, service, { account })

  await tab.page.goto(`messages/${id}`)
  const line = tab.page.getByTitle('The line that decided the classification').getByText('no such user here')
  await line.waitFor()
  const { contact } = await manage('GET', `/messages/${id}`)
  await tab.page.goto(`contacts/${contact.id}`)
  await line.waitFor()
})

test('an owner who deletes the organization confirms its name and password and is signed out', async () => {
  const account = await registerOwner(service)
  const { name } = (await service.manage(account.session, 'GET', '/organization')).body.data
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('settings/organization')
  await page.getByRole('button', { name: 'Delete organization' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete organization' })
  const confirm = dialog.getByRole('button', { name: 'Delete organization' })
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel(`Type “${name}” to confirm`).fill(name)
  await dialog.getByLabel('Your password').fill('not the password')
  await confirm.click()
  await dialog.getByText('Password is incorrect.').waitFor()
  await dialog.getByLabel('Your password').fill(account.password)
  await confirm.click()
  await page.waitForURL(/\/(login|register)/)
  expect((await service.manage(account.session, 'GET', '/organization')).status).toBe(401)
})

test('time zones are found with spaces and with underscores', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('settings/organization')
  const zone = page.getByRole('combobox', { name: 'Time zone' })
  for (const text of ['new york', 'New_York']) {
    await zone.fill(text)
    await page.getByRole('option', { name: 'America/New York' }).waitFor()
    await expect.poll(() => page.getByRole('option').count()).toBe(1)
  }
  await page.getByRole('option', { name: 'America/New York' }).click()
  await page.getByRole('button', { name: 'Save' }).first().click()
  await expect
    .poll(async () => (await service.manage(account.session, 'GET', '/organization')).body.data.timezone)
    .toBe('America/New_York')
  expect(tab.problems).toEqual([])
})

test('a new API key has the permissions that are checked, which most apps need by default', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  await page.goto('developers/api-keys')
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create API key' })
  await dialog.getByLabel('Name').fill('Back office')
  const checked = dialog.getByRole('checkbox', { checked: true })
  expect(await checked.count()).toBe(3)
  await dialog.getByRole('checkbox', { name: 'Read contacts' }).check()
  await dialog.getByRole('checkbox', { name: 'Send email', exact: true }).uncheck()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'I’ve copied it' }).click()
  await page.getByText('Write contacts, Read metrics, Read contacts').waitFor()
  const keys = await service.manage(account.session, 'GET', '/organization/api-keys')
  expect(keys.body.data).toMatchObject([
    { name: 'Back office', scopes: ['contacts:write', 'metrics:read', 'contacts:read'], public_only: false },
  ])
  expect(tab.problems).toEqual([])
})
