import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type OtherRecords, startNameServer } from '../support/name-server.ts'
import { type ReceivedEmail, startRelay, type TestRelay } from '../support/relay.ts'
import { longTestMsMax } from '../support/time-limits.ts'
import { until } from '../support/until.ts'
import { barriersInBothThemes } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { choose, goTo, openTab, segment } from './support/pages.ts'
import { startService } from './support/service.ts'

const published = new Map<string, OtherRecords>()
const names = await startNameServer(
  (name) => (published.has(name) ? [] : 'no such name'),
  (name) => published.get(name) ?? {},
)
const browser = await sharedBrowser()

const row = (page: Page, title: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })
const done = (page: Page, title: string) => row(page, title).getByRole('img', { name: 'Done' }).waitFor()

const addressOf = ({ mail }: ReceivedEmail) => `${mail.from?.name} <${mail.from?.address}>`
const signerOf = ({ raw }: ReceivedEmail) => /^DKIM-Signature:[\s\S]*?\bd=([^;]+);/m.exec(raw)?.[1]

async function register(page: Page): Promise<void> {
  await page.goto('')
  await page.getByLabel('Organization name').fill('Acme')
  await page.getByLabel('Your email').fill('ada@acme.example')
  await page.getByLabel(/^Password/).fill('correct horse battery')
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByRole('region', { name: 'Get started' }).waitFor()
}

async function addMailServer(page: Page, port: number): Promise<void> {
  await page.getByRole('button', { name: 'Add mail server' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Provider' }).click()
  await page.getByRole('option', { name: 'Another mail server' }).click()
  await dialog.getByLabel('Name', { exact: true }).fill('Main')
  await dialog.getByLabel('Host').fill('127.0.0.1')
  await dialog.getByLabel('Port').fill(String(port))
  await dialog.getByRole('combobox', { name: 'Encryption' }).click()
  await page.getByRole('option', { name: 'None', exact: true }).click()
  await segment(page, 'Sign in with', 'None').click()
  await dialog.getByRole('button', { name: 'Add mail server' }).click()
  await page.getByRole('heading', { name: 'Main' }).waitFor()
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('Working', { exact: true }).waitFor()
}

async function addDomain(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add domain' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Domain', { exact: true }).fill(name)
  await dialog.getByRole('button', { name: 'Add domain' }).click()
  // The list says that the domain is waiting as well, before its page opens.
  const records = page.getByRole('table', { name: 'DNS records' })
  await records.waitFor()
  const rows = records.getByRole('row')
  // SPF follows once others can reach this machine, on which the mail server runs.
  for (const purpose of ['Ownership', 'DKIM', 'DMARC']) {
    const [record, , value] = await rows.filter({ hasText: purpose }).first().getByRole('code').allTextContents()
    published.set(record!, { txt: [value!] })
  }
  await page.getByRole('button', { name: 'Check now' }).click()
  const checked = page.getByText('Waiting for DNS').waitFor({ state: 'detached' })
  await checked.catch(async () => expect.fail(await page.getByRole('main').innerText()))
}

/** Emails to users leave as well. */
async function inviteAndReset(page: Page, open: (path: string) => Promise<unknown>, relay: TestRelay): Promise<void> {
  await open('settings/team')
  await page.getByRole('button', { name: 'Invite member' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite member' })
  await dialog.getByLabel('Email (optional)').fill('mia@acme.example')
  await dialog.getByRole('button', { name: 'Send invitation' }).click()
  await dialog.getByText('The email is on its way.').waitFor()
  await until('the invitation', () => relay.mails.find(({ recipient }) => recipient === 'mia@acme.example'))
  await open('forgot-password')
  await page.getByLabel('Email').fill('ada@acme.example')
  await page.getByRole('button', { name: 'Send link' }).click()
  await until('the link', () => relay.mails.find(({ mail }) => mail.subject === 'Reset your Waxwing password'))
}

/** All emails are from the same sender, and signed for its domain. */
const expectSenders = (relay: TestRelay) =>
  expect(relay.mails.map((email) => [addressOf(email), signerOf(email)])).toEqual(
    relay.mails.map(() => ['Acme Shop <shop@acme.example.com>', 'acme.example.com']),
  )

async function changeSender(setup: Page): Promise<void> {
  const dialog = setup.getByRole('dialog')
  await row(setup, 'Choose the default sender').getByRole('button', { name: 'Change' }).click()
  await dialog.getByLabel('Name').fill('Acme Shop')
  await dialog.getByLabel('Before the @').fill('shop')
  expect(await barriersInBothThemes(setup)).toEqual([])
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row(setup, 'Choose the default sender')
    .getByText('Acme Shop <shop@acme.example.com>', { exact: false })
    .waitFor()
}

async function enterAddress(setup: Page): Promise<void> {
  const dialog = setup.getByRole('dialog')
  await row(setup, 'Make links reachable').getByRole('button', { name: 'Enter the address' }).click()
  await dialog.getByLabel('Address').fill('mail.acme.example')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('must be a URL such as https://mail.example.com', { exact: false }).waitFor()
  await dialog.getByLabel('Address').fill('https://mail.acme.example')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await done(setup, 'Make links reachable')
}

/** The first flow says who it is from before anything is chosen. */
async function writeFlow(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Newsletter' }).click()
  await page.getByLabel('Subject', { exact: true }).fill('News')
  const sender = page.getByRole('button', { name: 'Sender Acme Shop <shop@acme.example.com>' })
  await sender.click()
  await page.getByText('Without an address of its own, the email leaves as Acme Shop', { exact: false }).waitFor()
  await choose(page, 'Sender address', 'Another address')
  await page.getByLabel('From address').fill('news@elsewhere.example')
  await page.getByText('elsewhere.example is not verified', { exact: false }).waitFor()
  expect(await barriersInBothThemes(page)).toEqual([])
  await choose(page, 'Sender address', /^@acme\.example\.com/)
  expect(await page.getByLabel('Before the @').inputValue()).toBe('news')
  await choose(page, 'Sender address', /^Default sender/)
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByRole('heading', { name: 'Newsletter', level: 1 }).waitFor()
  const asked = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Publish' }).click()
  await asked.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('Version 1', { exact: true }).waitFor()
}

async function startBroadcast(page: Page): Promise<void> {
  const asked = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Create broadcast' }).first().click()
  await asked.getByLabel('Name').fill('May news')
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.getByRole('heading', { name: 'May news', level: 1 }).waitFor()
  await choose(page, 'Flow', 'Newsletter')
  await choose(page, 'Send to', 'All subscribed contacts')
  const panel = page.getByRole('region', { name: 'Before sending' })
  await panel.getByRole('button', { name: 'Check recipients' }).click()
  await panel.getByRole('button', { name: 'Start for 1 recipient' }).click()
  await asked.getByText('shop@acme.example.com', { exact: false }).waitFor()
  await asked.getByRole('button', { name: 'Send to 1 recipient' }).click()
}

test('from a port to the first broadcast: everything is set up in the app, and leaves from the right sender', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  await using relay = await startRelay()
  await using service = await startService({ settings: { BASE_URL: '', DNS_SERVERS: names.address } })
  // Setup stays open in one tab, whose steps turn green by themselves.
  await using setupTab = await openTab(browser, service)
  const setup = setupTab.page
  await register(setup)
  await goTo(setup, 'Setup')
  await row(setup, 'Connect a mail server')
    .getByText('every email stays in the built-in inbox', { exact: false })
    .waitFor()
  await row(setup, 'Make links reachable').getByText('which other people cannot open', { exact: false }).waitFor()
  expect(await barriersInBothThemes(setup)).toEqual([])
  const page = await setup.context().newPage()
  const open = (path: string) => page.goto(new URL(path, service.url).href)

  await open('sending/mail-servers')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox' }).waitFor()
  await addMailServer(page, relay.port)
  await done(setup, 'Connect a mail server')
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Inbox' })
    .waitFor({ state: 'detached' })

  await open('sending/domains')
  await addDomain(page, 'acme.example.com')
  await done(setup, 'Verify your domain')
  await done(setup, 'Publish SPF, DKIM and DMARC')
  await row(setup, 'Choose the default sender').getByText('Acme <hello@acme.example.com>', { exact: false }).waitFor()

  await changeSender(setup)

  await enterAddress(setup)

  await row(setup, 'Send an email to yourself').getByRole('button', { name: 'Send it to ada@acme.example' }).click()
  await done(setup, 'Send an email to yourself')
  await setup.getByText('Everything that real email needs is set up.').waitFor()
  const first = relay.mails[0]!
  expect(first.mail.html).toContain('https://mail.acme.example/t/c/')

  await open('settings/brand')
  await page.getByLabel('Postal address').fill('1 Main Street')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await done(setup, 'Show your postal address')

  await open('flows/starters')
  await writeFlow(page)

  await open('contacts')
  await page.getByRole('button', { name: 'Add contact' }).first().click()
  await page.getByLabel('Email').fill('grace@example.com')
  await page.getByRole('dialog').getByRole('button', { name: 'Add contact' }).click()
  await page.getByRole('heading', { name: 'grace@example.com' }).waitFor()

  await open('broadcasts')
  await startBroadcast(page)
  const sent = await until('the broadcast', () =>
    relay.mails.find(({ recipient }) => recipient === 'grace@example.com'),
  )
  expect(sent.mail.html).toContain('https://mail.acme.example/t/o/')

  await inviteAndReset(page, open, relay)
  expectSenders(relay)
  expect(setupTab.problems).toEqual([])
})

test('what the environment sets is done in the setup, and used for all emails', {
  timeout: longTestMsMax.manyPages,
}, async () => {
  await using relay = await startRelay()
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-setup-'))
  const keyFile = join(folder, 'key.pem')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const settings = {
    BASE_URL: 'https://mail.acme.example',
    SMTP_URL: relay.url,
    MAIL_FROM: 'Acme Shop <shop@acme.example.com>',
    DKIM_DOMAIN: 'acme.example.com',
    DKIM_SELECTOR: 'mail',
    DKIM_PRIVATE_KEY_FILE: keyFile,
    DNS_SERVERS: names.address,
  }
  await using service = await startService({ settings })
  await using tab = await openTab(browser, service)
  const { page } = tab
  const open = (path: string) => page.goto(new URL(path, service.url).href)
  await register(page)
  await goTo(page, 'Setup')
  for (const title of [
    'Connect a mail server',
    'Verify your domain',
    'Choose the default sender',
    'Make links reachable',
  ])
    await done(page, title)
  await row(page, 'Make links reachable')
    .getByText('It is set by BASE_URL in the environment.', { exact: false })
    .waitFor()

  await row(page, 'Send an email to yourself').getByRole('button', { name: 'Send it to ada@acme.example' }).click()
  await done(page, 'Send an email to yourself')
  await inviteAndReset(page, open, relay)
  expect(relay.mails).toHaveLength(3)
  expectSenders(relay)
  expect(tab.problems).toEqual([])
})
