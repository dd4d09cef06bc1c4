import { expect, test } from 'vitest'
import { accountEmailTo, linkIn } from '../support/account-email.ts'
import { startRelay } from '../support/relay.ts'
import { until } from '../support/until.ts'
import { barriers, barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { createFlow } from './support/flows.ts'
import { openTab } from './support/pages.ts'
import { join } from './support/people.ts'
import { type Account, registerOwner, type Service, startService, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

const newPassword = 'another horse battery'

const reader = (service: Service, { session }: Account) => ({
  manage: (method: string, path: string) => service.manage(session, method, path),
})

test('a forgotten password is reset by the link in the email, which signs in and works once', async () => {
  const account = await registerOwner(service)
  await registerOwner(service)
  await using tab = await openTab(browser, service, { size: 'phone' })
  const { page } = tab

  await page.goto('login')
  await page.getByLabel('Email').fill(account.email)
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
  expect(await page.getByLabel('Email').inputValue()).toBe(account.email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.getByRole('heading', { name: 'Check your email' }).waitFor()
  // Whether it was sent depends on the organization, which is not revealed.
  await page.getByText('If no owner of your organization has connected a mail server').waitFor()
  expect(await barriers(page)).toEqual([])

  const { link } = await accountEmailTo(reader(service, account), account.email, /^Reset/)
  await page.goto(link)
  const password = page.getByLabel('New password')
  await password.waitFor()
  // The token is not left in the history.
  expect(page.url()).toMatch(/\/reset-password$/)
  expect(await barriers(page)).toEqual([])
  await password.fill('password123')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('too easy to guess').waitFor()
  await password.fill(newPassword)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  expect((await service.manage(account.session, 'GET', '/me')).status).toBe(401)

  await page.goto(link)
  await page.getByText('This link is no longer valid').waitFor()
  await page.getByRole('link', { name: 'Request a new link' }).click()
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
  expect(tab.problems).toEqual([])
})

test('an invitation by email leads to the team', async () => {
  await using relay = await startRelay()
  await using service = await startService({ settings: { SMTP_URL: relay.url } })
  const account = await registerOwner(service)
  await using owner = await openTab(browser, service, { account })
  await using guest = await openTab(browser, service, { theme: 'dark' })

  await owner.page.goto('settings/team')
  await owner.page.getByRole('button', { name: 'Invite member' }).click()
  const dialog = owner.page.getByRole('dialog', { name: 'Invite member' })
  await dialog.getByLabel('Email (optional)').fill('bob@acme.example')
  await dialog.getByRole('button', { name: 'Send invitation' }).click()
  await dialog.getByText('The email is on its way.').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await owner.page.getByRole('button', { name: 'Resend the invitation to bob@acme.example' }).click()
  await owner.page.getByRole('alert').getByText('This invitation was just sent').waitFor()

  const { mail } = await until('the email', () => relay.mails[0])
  expect(mail.subject).toBe('Join Acme on Waxwing')
  await guest.page.goto(linkIn(mail.text ?? ''))
  await guest.page.getByLabel('Your name').fill('Bob Jones')
  await guest.page.getByLabel(/^Password/).fill(newPassword)
  expect(await barriers(guest.page)).toEqual([])
  await guest.page.getByRole('button', { name: 'Join Acme' }).click()
  await guest.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await guest.page.goto('settings/team')
  await guest.page.getByRole('cell', { name: /Bob Jones/ }).waitFor()
  expect([...owner.problems, ...guest.problems]).toEqual([])
})

test('what happens to an invitation and a password reset is told as the mail servers of the organization allow it', async () => {
  await using relay = await startRelay()
  await using service = await startService()
  const account = await registerOwner(service)
  const member = await join(service, account, 'max@acme.example', 'member')
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const manage = async (session: string, method: string, path: string, body?: unknown) =>
    (await service.manage(session, method, `/organization/mail-servers${path}`, body)).body.data
  const dialog = page.getByRole('dialog')
  const invite = async (email: string) => {
    await page.goto('settings/team')
    await page.getByRole('button', { name: 'Invite member' }).click()
    await dialog.getByLabel('Email (optional)').fill(email)
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
  }
  const reset = async () => {
    await page.goto('forgot-password')
    await page.getByLabel('Email').fill('nobody@acme.example')
    await page.getByRole('button', { name: 'Send link' }).click()
  }

  // Without a mail server.
  await invite('bob@acme.example')
  await dialog.getByText('No email was sent to bob@acme.example').waitFor()
  await dialog.getByText('No mail server is connected. Copy the link and send it yourself.').waitFor()
  expect(await dialog.getByRole('figure', { name: 'invitation link' }).textContent()).toContain('/invitation/inv_')
  expect(await barriersInBothThemes(page)).toEqual([])
  await dialog.getByRole('button', { name: 'I’ve copied it' }).click()
  await page
    .getByRole('row', { name: /bob@acme.example/ })
    .getByText('Not sent')
    .waitFor()
  await page.getByRole('button', { name: 'Send the invitation to bob@acme.example' }).click()
  await dialog.getByText('No email was sent to bob@acme.example').waitFor()
  await dialog.getByRole('button', { name: 'I’ve copied it' }).click()
  await page.goto('settings/profile')
  await page.getByText('No mail server is connected, so alerts are not sent.').waitFor()
  await page.goto('inbox')
  await page.getByText('Emails that were not sent, because no mail server was connected.').waitFor()
  await page.getByText('Join Acme on Waxwing').first().waitFor()
  await reset()
  await page.getByRole('heading', { name: 'No email was sent' }).waitFor()
  await page.getByText('owners of its organization find the email with the link in the built-in inbox').waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])

  // With one that a member has set up.
  const server = await manage(member.session, 'POST', '', { name: 'Main', url: relay.url })
  await invite('eve@acme.example')
  await dialog.getByText('leave only through a mail server that an owner has set up', { exact: false }).waitFor()
  await dialog.getByRole('button', { name: 'I’ve copied it' }).click()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox' }).click()
  await page.getByText('Password resets and invitations aren’t being sent').waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await page.getByRole('link', { name: 'mail server', exact: true }).click()
  await page.getByRole('link', { name: 'Main', exact: true }).click()
  await page.getByText('Password resets and invitations don’t leave through this mail server').waitFor()
  expect(relay.mails).toEqual([])

  // With one that an owner has set up.
  await manage(account.session, 'PATCH', `/${server.id}`, { url: relay.url })
  await invite('mia@acme.example')
  await dialog.getByText('The email is on its way.').waitFor()
  await until('the email', () => relay.mails.some(({ recipient }) => recipient === 'mia@acme.example'))
  await dialog.getByRole('button', { name: 'Done' }).click()
  await reset()
  await page.getByText('an email with a link is on its way').waitFor()
  await page.goto('inbox')
  await page.getByText('A mail server is connected now.').waitFor()

  // While it fails.
  await relay.stop()
  await manage(account.session, 'POST', `/${server.id}/test`)
  await invite('zoe@acme.example')
  await dialog.getByText('The email to zoe@acme.example is waiting').waitFor()
  await reset()
  await page.getByText('sent as soon as the mail server accepts email again').waitFor()
  expect(tab.problems).toEqual([])
})

test('the profile changes name, email, alerts and sessions', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  await using other = await openTab(browser, service)
  const { page } = tab
  await other.page.goto('login')
  await other.page.getByLabel('Email').fill(account.email)
  await other.page.getByLabel(/^Password/).fill(account.password)
  await other.page.getByRole('button', { name: 'Sign in' }).click()
  await other.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()

  await page.goto('settings/profile')
  await page.getByLabel('Name').fill('Ada Lovelace')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Profile saved.').waitFor()
  await page.getByRole('switch', { name: 'Finished imports' }).click()
  await until('the switch to be saved', async () => {
    const { data } = (await service.manage(account.session, 'GET', '/me')).body
    return data.user.name === 'Ada Lovelace' && data.alerts.imports === false
  })
  await page.getByRole('button', { name: 'Sign out Chrome on Linux' }).click()
  await expect.poll(() => page.getByRole('table', { name: 'Sessions' }).getByRole('row').count()).toBe(2)
  // The overview refetches its checklist.
  await other.page.getByRole('dialog', { name: 'Your session has expired' }).waitFor()

  await page.getByRole('button', { name: 'Change email' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change email' })
  await dialog.getByLabel('New email').fill('ada@acme.example')
  await dialog.getByLabel('Current password').fill(account.password)
  expect(await barriers(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Send confirmation link' }).click()
  await page.getByText('Confirm ada@acme.example').waitFor()
  expect(await barriers(page)).toEqual([])
  const { link } = await accountEmailTo(reader(service, account), 'ada@acme.example', /^Confirm/)
  await page.goto(link)
  await page.getByRole('button', { name: 'Confirm address' }).click()
  await page.getByText('Your account now uses').waitFor()
  await page.getByRole('link', { name: 'Back to your profile' }).click()
  await page.getByRole('region', { name: 'Profile' }).getByText('ada@acme.example').waitFor()
  await accountEmailTo(reader(service, account), account.email, /address of your Waxwing account was changed/)

  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect((await service.manage(account.session, 'GET', '/me')).status).toBe(401)
  expect([...tab.problems, ...other.problems]).toEqual([])
})

test('while the mail server is down, queued emails show why they wait and when they are tried again', async () => {
  const gone = await startRelay()
  await gone.stop()
  await using service = await startService({ settings: { SMTP_URL: gone.url } })
  const account = await registerOwner(service)
  const flowId = await createFlow(service, account)
  await service.manage(account.session, 'POST', `/organization/flows/${flowId}/test`, {
    to: 'ada@example.com',
    context: { name: 'Ada' },
  })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('messages')
  const row = page.getByRole('row', { name: /Your order/ })
  await row.getByText(/Can’t connect to the mail server, next attempt/).waitFor()
  await row.getByText('Queued', { exact: true }).waitFor()
  expect(await row.getByText('Sent', { exact: true }).count()).toBe(0)
  await page.getByRole('status').getByText('Emails are queued').waitFor()
  await row.getByRole('link').click()
  await page.getByText('Not sent yet: can’t connect to the mail server').waitFor()
  await page
    .getByText(/refused/i)
    .first()
    .waitFor()
  expect(tab.problems).toEqual([])
})
