import { expect, test } from 'vitest'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { join, type Person, registerOther } from '../../../test/support/people.ts'
import { startRelay, type TestRelay } from '../../../test/support/relay.ts'
import { create } from '../../../test/support/resources.ts'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { recordPausedExport } from '../../operations/notices/notices.ts'
import { newId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { createService } from '../../service.ts'

type Caller = Pick<TestApp, 'manage'>

const invite = async ({ manage }: Caller, email: string) =>
  await create({ manage }, '/invitations', { email, role: 'owner' })
const forgot = async (app: TestApp, email: string): Promise<string> =>
  (await app.call('POST', '/api/v1/auth/forgot-password', { body: { email } })).body.message
const pathsOf = async (app: TestApp, person: Caller = app) => {
  const { account_emails, alerts } = (await person.manage('GET', '/me')).body.data.mail
  const { password_reset_emails } = (await app.call('GET', '/api/v1/auth/state')).body.data
  return [account_emails, alerts, password_reset_emails]
}
const alert = (app: TestApp, { organizationId }: Pick<Person, 'organizationId'> = app) =>
  app.db.begin((tx) =>
    recordPausedExport(tx, {
      organizationId: parseId('org', organizationId) as OrganizationId,
      id: newId('exp'),
      name: 'Events',
      reason: 'no',
    }),
  )

/** Sends what waits, in a process of its own. */
async function work(app: TestApp): Promise<void> {
  const worker = await createService({ ...app, log: app.app.server.log, roles: ['work'] } as never)
  await worker.start()
  await until('the emails to leave', async () => {
    const rows = await app.db`
      select from jobs where kind in ('account.email', 'notice.email')
      union all select from password_reset_requests`
    return rows.length === 0
  })
  await worker.stop()
}

const received = (relay: TestRelay) =>
  [...relay.mails, ...relay.alerts].map(({ recipient, mail }) => `${recipient}: ${mail.subject?.split(' ')[0]}`).sort()
const kept = async ({ manage }: Caller) =>
  (await manage('GET', '/organization/inbox')).body.data
    .map(({ to, subject }: { to: string; subject: string }) => `${to}: ${subject.split(' ')[0]}`)
    .sort()

const all = ['bob@acme.example: Join', 'owner@acme.example: Reset', 'owner@acme.example: The']

test('emails to users leave through the server of the installation, whatever the organization has', async () => {
  await using relay = await startRelay()
  await using own = await startRelay()
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_FROM: 'hello@acme.example' }, ['serve'])
  await addMailServer(app, { url: own.url })
  expect(await invite(app, 'bob@acme.example')).toMatchObject({ email_status: 'sending', sent_at: expect.any(String) })
  expect(await forgot(app, 'owner@acme.example')).toContain('is on its way')
  await alert(app)
  expect(await pathsOf(app)).toEqual(['sending', 'sending', 'sending'])
  await work(app)
  expect([received(relay), received(own), await kept(app)]).toEqual([all, [], []])
  expect(relay.mails[0]!.sender).toBe('hello@acme.example')
})

test('without one, they leave through the mail server of the organization, from an address that it may send', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({}, ['serve'])
  const member = await join(app, 'member@acme.example', 'member')
  const id = await addMailServer(app, { url: relay.url, from_domains: ['shop.example'] })
  expect(await invite(app, 'bob@acme.example')).toMatchObject({ email_status: 'sending', sent_at: expect.any(String) })
  expect(await forgot(app, 'owner@acme.example')).toContain('is on its way')
  await alert(app)
  expect(await pathsOf(app, member)).toEqual(['sending', 'sending', 'sending'])
  await work(app)
  expect([received(relay), await kept(app)]).toEqual([all, []])
  expect([...relay.mails, ...relay.alerts].map(({ sender, mail }) => [sender, mail.from?.address])).toEqual(
    all.map(() => ['hello@shop.example', 'hello@shop.example']),
  )

  // The default sender of the organization, if a server carries its email.
  await app.manage('PATCH', '/organization', { default_sender: { name: 'Acme', email: 'news@acme.example' } })
  await app.manage('PATCH', `/organization/mail-servers/${id}`, { from_domains: [] })
  await forgot(app, member.email)
  await work(app)
  expect(relay.mails.at(-1)).toMatchObject({
    ...{ sender: 'news@acme.example', recipient: member.email },
    mail: { from: { name: 'Acme', address: 'news@acme.example' } },
  })

  // While it fails, they wait.
  await app.db.statement`
    update mail_servers set status = 'failing', failing_since = now(), next_try_at = now(), failure = 'busy'`
  expect(await pathsOf(app)).toEqual(['waiting', 'waiting', 'waiting'])
  expect(await invite(app, 'eve@acme.example')).toMatchObject({ email_status: 'waiting' })
})

test('without any server nothing is sent, and every answer says so', async () => {
  await using app = await startTestApp({}, ['serve'])
  const made = await invite(app, 'bob@acme.example')
  expect(made).toMatchObject({
    email_status: 'not_sent',
    sent_at: null,
    url: expect.stringContaining('/invitation/inv_'),
  })
  expect(await pathsOf(app)).toEqual(['not_sent', 'not_sent', 'not_sent'])
  const answers = [await forgot(app, 'owner@acme.example'), await forgot(app, 'nobody@acme.example')]
  expect(answers).toEqual(Array(2).fill(expect.stringContaining('in the built-in inbox')))
  await alert(app)
  await work(app)
  expect(await kept(app)).toEqual(all)

  // The first link was not sent, so another can be created at once; it is returned, because it is not sent either.
  const again = (await app.manage('POST', `/organization/invitations/${made.id}/resend`)).body.data
  expect(again).toMatchObject({ email_status: 'not_sent', sent_at: null })
  expect((await app.call('GET', `/api/v1/auth/invitations/${again.token}`)).status).toBe(200)
  expect((await create(app, '/invitations', { role: 'member' })).email_status).toBe(null)

  // With several organizations, the answer for one would reveal who belongs to it.
  await registerOther(app, 'owner@other.example')
  expect(await pathsOf(app)).toEqual(['not_sent', 'not_sent', 'depends'])
  expect(await forgot(app, 'nobody@acme.example')).toBe(await forgot(app, 'owner@other.example'))
})

test('links that sign in leave only through a server whose connection an owner was the last to change', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp({}, ['serve'])
  const member = await join(app, 'member@acme.example', 'member')
  const second = await join(app, 'second@acme.example', 'owner')
  const id = await addMailServer(member, { url: relay.url })
  const server = `/organization/mail-servers/${id}`
  const isTrusted = async () => {
    const [paths, { body }] = [await pathsOf(app), await app.manage('GET', server)]
    expect(paths).toEqual(
      body.data.sends_account_emails ? Array(3).fill('sending') : ['not_sent', 'sending', 'not_sent'],
    )
    return body.data.sends_account_emails
  }
  /** Returns what left through the server, and what is in the inbox since. */
  const send = async (email: string) => {
    relay.mails.length = relay.alerts.length = 0
    await app.manage('DELETE', '/organization/inbox')
    expect(await forgot(app, email)).toContain((await isTrusted()) ? 'on its way' : 'in the built-in inbox')
    await work(app)
    return [received(relay), await kept(app)]
  }

  expect(await isTrusted()).toBe(false)
  expect(await invite(app, 'bob@acme.example')).toMatchObject({ email_status: 'not_sent', sent_at: null })
  await alert(app)
  const owners = [app, second].map((_, index) => (index === 0 ? 'owner@acme.example: The' : 'second@acme.example: The'))
  // The alert about the new mail server is private, the other one is not.
  expect(await send('owner@acme.example')).toEqual([
    owners,
    ['bob@acme.example: Join', 'owner@acme.example: Reset', 'owner@acme.example: The', 'second@acme.example: The'],
  ])

  // An owner who changes something else has not checked where it connects to.
  await second.manage('PATCH', server, { name: 'Renamed' })
  expect(await isTrusted()).toBe(false)
  await second.manage('PATCH', server, { url: relay.url })
  expect(await send('owner@acme.example')).toEqual([['owner@acme.example: Reset'], []])
  await member.manage('PATCH', server, { url: relay.url, name: 'Main' })
  expect(await isTrusted()).toBe(true)

  // Who is no longer an owner could still read what leaves through the server.
  await app.manage('PATCH', `/organization/members/${second.id}`, { role: 'member' })
  expect(await send(second.email)).toEqual([[], ['second@acme.example: Reset']])
  await app.manage('PATCH', `/organization/members/${second.id}`, { role: 'owner' })
  expect(await send(second.email)).toEqual([['second@acme.example: Reset'], []])

  await using other = await startRelay()
  await member.manage('PATCH', server, { url: other.url })
  expect([await send('owner@acme.example'), received(other)]).toEqual([
    [[], expect.arrayContaining(['owner@acme.example: Reset', 'owner@acme.example: The'])],
    [],
  ])
})

test('a process that still has a connection of a member sends no link through it', async () => {
  await using relay = await startRelay()
  await using own = await startRelay()
  // One process sends, and another is asked.
  await using app = await startTestApp({})
  const member = await join(app, 'member@acme.example', 'member')
  const id = await addMailServer(member, { url: relay.url })
  await forgot(app, member.email)
  await until('the email to be kept', async () => (await kept(app)).includes('member@acme.example: Reset'))
  await app.db.statement`
    update mail_servers
    set url = (select url from mail_servers where id = ${parseId('mse', await addMailServer(app, { url: own.url, kinds: ['marketing'] }))!}),
      connected_by = (select id from users where email = 'owner@acme.example'), updated_at = now()
    where id = ${parseId('mse', id)!}`
  await forgot(app, 'owner@acme.example')
  await until('the email', () => received(own).length === 1)
  expect([received(own), received(relay)]).toEqual([['owner@acme.example: Reset'], []])
})
