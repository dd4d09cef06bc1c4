import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { callUrl } from '../support/test-app.ts'
import { barriers } from './support/axe.ts'
import { sharedBrowser } from './support/chromium.ts'
import { chooseAction, hold, openTab } from './support/pages.ts'
import { registerOwner, startSharedService } from './support/service.ts'

const browser = await sharedBrowser()
const service = await startSharedService()

test('a CSV file is imported with chosen columns, progress and a report of rejected rows', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/groups', { name: 'Customers' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts')
  await page.getByRole('link', { name: 'Import CSV' }).first().click()
  const people = Array.from({ length: 2_000 }, (_, i) => `person${i}@example.com,Person ${i},pro`)
  const lines = ['Mail,First name,Plan', ...people.slice(0, 2), 'no-address,Nobody,pro', ...people.slice(2)]
  await page.getByLabel('CSV file', { exact: true }).setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`${lines.join('\n')}\n`),
  })
  expect(await page.getByRole('combobox', { name: 'Import “Mail” as' }).inputValue()).toBe('Email')
  await page.getByRole('combobox', { name: 'Import “Plan” as' }).click()
  await page.getByRole('option', { name: 'Attribute' }).click()
  await page.getByLabel('Attribute name for “Plan”').fill('tier')
  await page.getByRole('combobox', { name: 'Add to group' }).click()
  await page.getByRole('option', { name: 'Customers' }).click()
  await page.getByRole('button', { name: 'Check file' }).click()
  await page.getByText('2,001 rows checked').waitFor()
  const facts = page.getByRole('definition')
  expect((await facts.allInnerTexts()).slice(0, 3)).toEqual(['2,000', '0', '1'])
  expect(await page.getByRole('link', { name: 'View contacts' }).count()).toBe(0)
  expect(await barriers(page)).toEqual([])
  await page.getByRole('button', { name: 'Start import' }).click()

  await page.getByRole('progressbar', { name: 'Import' }).waitFor()
  await page.getByText('2,001 rows processed.').waitFor()
  const rejected = page.getByRole('table', { name: 'Rejected rows' }).getByRole('row')
  expect(await rejected.nth(1).textContent()).toContain('no-address4')

  await page.getByRole('link', { name: 'View contacts' }).click()
  await page.getByLabel('Search contacts').fill('person7@')
  await page.getByRole('link', { name: 'person7@example.com' }).click()
  await page.getByRole('heading', { name: 'person7@example.com' }).waitFor()
  await page.getByText('tier').waitFor()
  expect(tab.problems).toEqual([])
})

test('a group that does not exist is created by the import, and the result names it (phone)', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/contacts', { email: 'other@example.com' })
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  const openFile = async () => {
    await page.goto('contacts/imports/new')
    await page.getByLabel('CSV file', { exact: true }).setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Name,E-mail address\nAda,ada@example.com\n'),
    })
    const email = page.getByRole('combobox', { name: 'Import “E-mail address” as' })
    await email.waitFor()
    expect(await email.inputValue()).toBe('Email')
  }
  await openFile()
  const group = page.getByRole('combobox', { name: 'Add to group' })
  await group.fill('Newsletter')
  await page.getByRole('option', { name: 'Create group “Newsletter”' }).click()
  expect(await group.inputValue()).toBe('Newsletter')
  await page.getByRole('button', { name: 'Start import' }).click()
  await page.getByText('1 row processed.').waitFor()
  await page.getByText('Subscribed', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Newsletter' }).waitFor()
  const [{ id: groupId }] = (await service.manage(account.session, 'GET', '/organization/groups')).body.data
  await service.manage(account.session, 'POST', '/organization/contacts', {
    email: 'member@example.com',
    group_ids: [groupId],
  })
  await page.getByRole('link', { name: 'View contacts' }).click()
  await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
  await page.getByText('From import: people.csv').waitFor()
  for (const hidden of ['other@example.com', 'member@example.com']) expect(await page.getByText(hidden).count()).toBe(0)
  await page.getByRole('link', { name: 'people.csv' }).click()
  await page.getByRole('button', { name: 'Undo import' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo import' }).click()
  await page.getByText('Undone', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'View contacts' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Imports' }).click()
  await page.getByRole('table', { name: 'Imports' }).getByText('Undone', { exact: true }).waitFor()

  // A name that was typed but not picked is used too, even before the groups are loaded. Existing names match
  // case-insensitively.
  for (const name of ['newsletter', 'Customers']) {
    const goOn = await hold(page, '**/api/v1/organization/groups')
    await openFile()
    await group.fill(name)
    await group.blur()
    await page.getByRole('radiogroup', { name: 'New contacts will be' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Start import' }).click()
    await goOn()
    await page.getByText('1 row processed.').waitFor()
  }
  await page.getByRole('link', { name: 'Customers' }).waitFor()
  const { data } = (await service.manage(account.session, 'GET', '/organization/groups')).body
  expect(data.map((each: { name: string }) => each.name).sort()).toEqual(['Customers', 'Newsletter'])
  expect(tab.problems).toEqual([])
})

test('a file can be dropped on the page, and one without an email column cannot be imported', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/imports/new')
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['Name,Plan\\nAda,pro\\n'], 'people.csv', { type: 'text/csv' }))
    return transfer
  })()`)
  await page.getByRole('region', { name: 'Drop a CSV file here' }).dispatchEvent('drop', { dataTransfer: transfer })

  await page.getByText('Choose the column that contains the email address.').waitFor()
  expect(await page.getByRole('button', { name: 'Start import' }).isDisabled()).toBe(true)
})

test('two columns with the same name become two attributes with their own values', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/imports/new')
  await page.getByLabel('CSV file', { exact: true }).setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`email,phone,phone,note\nada@example.com,111,222,${'x'.repeat(300)}\n`),
  })
  const note = page.getByRole('combobox', { name: 'Import “note” as' })
  expect((await note.boundingBox())?.x).toBeLessThan(1_360 - 140)
  expect(await page.getByTitle('x'.repeat(300)).isVisible()).toBe(true)
  await page.getByText('Skipped columns with the same name as an earlier column: "phone".').waitFor()
  await page.getByRole('combobox', { name: 'Import “phone (column 3)” as' }).click()
  await page.getByRole('option', { name: 'Attribute' }).click()
  await page.getByText('Name the attribute for the column “phone (column 3)”.').waitFor()
  await page.getByLabel('Attribute name for “phone (column 3)”').fill('phone2')
  await page.getByRole('button', { name: 'Start import' }).click()
  await page.getByText('1 row processed.').waitFor()
  const { data } = (await service.manage(account.session, 'GET', '/organization/contacts')).body
  expect(data).toMatchObject([{ email: 'ada@example.com', attributes: { phone: '111', phone2: '222' } }])
  expect(tab.problems).toEqual([])
})

test('contacts that the file marks as unsubscribed are not subscribed, and the others get the chosen status', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/groups', { name: 'Customers' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/imports/new')
  await page.getByLabel('CSV file', { exact: true }).setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('email,Status\nada@example.com,unsubscribed\nbob@example.com,active\n'),
  })
  expect(await page.getByRole('combobox', { name: 'Import “Status” as' }).inputValue()).toBe('Status')
  await page.getByText('Only import people who opted in.').waitFor()
  const choice = page.getByRole('radiogroup', { name: 'New contacts will be' })
  expect(await choice.getByLabel('Subscribed', { exact: true }).isChecked()).toBe(true)
  await choice.getByLabel('Not subscribed').check()
  const group = page.getByRole('combobox', { name: 'Add to group' })
  await group.click()
  await page.getByRole('option', { name: 'Customers' }).click()
  await choice.waitFor({ state: 'hidden' })
  await group.click()
  await page.getByRole('option', { name: 'Customers' }).click()
  expect(await choice.getByLabel('Not subscribed').isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Start import' }).click()
  await page.getByText('2 rows processed.').waitFor()
  const { data } = (await service.manage(account.session, 'GET', '/organization/contacts')).body
  const people = data.map((contact: { email: string; status: string }) => [contact.email, contact.status])
  expect(people.sort()).toEqual([
    ['ada@example.com', 'unsubscribed'],
    ['bob@example.com', 'not_subscribed'],
  ])
  expect(tab.problems).toEqual([])
})

test('the first line of a file without a header is imported and shown in the samples', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/imports/new')
  await page.getByLabel('CSV file', { exact: true }).setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('h1@h.example,Ann\nh2@h.example,Bob\n'),
  })
  const hasHeader = page.getByLabel('The first row contains column names')
  await hasHeader.waitFor()
  expect(await hasHeader.isChecked()).toBe(false)
  expect(await page.getByRole('combobox', { name: 'Import “Column 1” as' }).inputValue()).toBe('Email')
  await page.getByText('Ann, Bob').waitFor()
  await hasHeader.check()
  await page.getByRole('combobox', { name: 'Import “Ann” as' }).waitFor()
  await hasHeader.uncheck()
  await page.getByRole('combobox', { name: 'Import “Column 2” as' }).click()
  await page.getByRole('option', { name: 'First name' }).click()
  await page.getByRole('button', { name: 'Start import' }).click()
  await page.getByText('2 rows processed.').waitFor()
  const { data } = (await service.manage(account.session, 'GET', '/organization/contacts')).body
  const people = data.map((contact: { email: string; first_name: string }) => [contact.email, contact.first_name])
  expect(people.sort()).toEqual([
    ['h1@h.example', 'Ann'],
    ['h2@h.example', 'Bob'],
  ])
  expect(tab.problems).toEqual([])
})

test('a file in another encoding than UTF-8 is converted, and an import names the columns it skipped', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/imports/new')
  await page.getByLabel('CSV file', { exact: true }).setInputFiles({
    name: 'people.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('email,pr\xe9nom\nada@example.com,Ren\xe9\nbob@example.com,"Bob\n', 'latin1'),
  })
  await page.getByText('Converted from Windows-1252').waitFor()
  await page.getByText('The row on line 3 does not end').waitFor()
  await page.getByRole('button', { name: 'Start import' }).click()
  await page.getByText('The import failed').waitFor()
  const { data } = (await service.manage(account.session, 'GET', '/organization/contacts')).body
  expect(data).toMatchObject([{ email: 'ada@example.com', first_name: 'René' }])

  const started = await callUrl('POST', `${service.url}api/v1/organization/contacts/import`, {
    headers: { authorization: `Bearer ${account.session}`, 'content-type': 'text/csv' },
    raw: 'email,Phone,Phone\nada@example.com,111,222\n',
  })
  await page.goto(`contacts/imports/${started.body.data.id}`)
  await page.getByText('Skipped columns with the same name as an earlier column: "Phone".').waitFor()
  expect(tab.problems).toEqual([])
})

test('a contact is added, edited, added to a group and erased (phone)', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/groups', { name: 'Customers' })
  await using tab = await openTab(browser, service, { size: 'phone', account })
  const { page } = tab

  await page.goto('contacts')
  await page.getByRole('button', { name: 'Add contact' }).first().click()
  await page.getByLabel('Email').fill('ada')
  await page.getByRole('dialog').getByRole('button', { name: 'Add contact' }).click()
  await expect.poll(() => page.getByLabel('Email').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Email').fill('zoë@example.com')
  await page.getByRole('dialog').getByRole('button', { name: 'Add contact' }).click()
  await page.getByText('Email contains "ë" before the @, which most mail servers do not accept.').waitFor()
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('First name').fill('Ada')
  await page.getByRole('radiogroup', { name: 'Status' }).getByLabel('Not subscribed').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Add contact' }).click()
  await page.getByRole('heading', { name: 'ada@example.com' }).waitFor()
  await page.getByText('Not subscribed', { exact: true }).waitFor()

  await page.getByRole('combobox', { name: 'Add to group' }).click()
  await page.getByRole('option', { name: 'Customers' }).click()
  await page.getByRole('button', { name: 'Remove from Customers' }).waitFor()

  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit contact' })
  const addAttribute = async (number: number, name: string, type: string) => {
    await dialog.getByRole('button', { name: 'Add attribute' }).click()
    await dialog.getByLabel(`Name of attribute ${number}`).fill(name)
    await dialog.getByRole('combobox', { name: `Type of attribute ${number}` }).click()
    await page.getByRole('option', { name: type, exact: true }).click()
    return dialog.getByLabel(`Value of attribute ${number}`, { exact: true }).first()
  }
  await (await addAttribute(1, 'plan', 'Text')).fill('pro')
  await (await addAttribute(2, 'seats', 'Number')).fill('many')
  await dialog.getByLabel('Last name').fill('Lovelace')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Enter a number.').waitFor()
  await dialog.getByLabel('Value of attribute 2').fill('5')
  await (await addAttribute(3, 'trial_until', 'Date')).fill('2026-12-31')
  await (await addAttribute(4, 'is_member', 'Yes or no')).selectOption('Yes')
  await (await addAttribute(5, 'tags', 'List')).fill('tea,coffee ,')
  await (await addAttribute(6, 'address', 'JSON')).fill('{"city":"Vienna"}')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Ada Lovelace').waitFor()
  const attributes = page.getByRole('table', { name: 'Attributes' })
  await attributes.getByText('tea, coffee').waitFor()
  expect(await attributes.getByRole('row').filter({ hasText: 'is_member' }).textContent()).toContain('Yes')

  await page.getByRole('button', { name: 'More actions' }).click()
  const downloaded = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export data' }).click()
  const exported = JSON.parse(await readFile(await (await downloaded).path(), 'utf8'))
  expect(exported.contact).toMatchObject({
    email: 'ada@example.com',
    last_name: 'Lovelace',
    attributes: {
      plan: 'pro',
      seats: 5,
      trial_until: '2026-12-31',
      is_member: true,
      tags: ['tea', 'coffee'],
      address: { city: 'Vienna' },
    },
  })

  await chooseAction(page, 'Erase contact')
  const erase = page.getByRole('button', { name: 'Erase permanently' })
  expect(await erase.isDisabled()).toBe(true)
  await page.getByLabel(/^Type/).fill('ada@example.com')
  await erase.click()
  await page.getByRole('heading', { name: 'No contacts yet' }).waitFor()
  expect(tab.problems).toEqual([])
})

test('a dialog with typed text asks before Escape or a click outside closes it', async () => {
  const account = await registerOwner(service)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const dialog = page.getByRole('dialog', { name: 'Add contact' })
  const open = () => page.getByRole('button', { name: 'Add contact' }).first().click()

  await page.goto('contacts')
  await open()
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })

  await open()
  await page.getByLabel('Email').fill('ada@example.com')
  await page.mouse.click(5, 5)
  await dialog.getByText('You have unsaved changes.').waitFor()
  await page.keyboard.press('Escape')
  expect(await page.getByLabel('Email').inputValue()).toBe('ada@example.com')
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'hidden' })

  await open()
  expect(await page.getByLabel('Email').inputValue()).toBe('')
  expect(await dialog.getByText('You have unsaved changes.').isVisible()).toBe(false)
  await page.getByLabel('Email').fill('ada@example.com')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(tab.problems).toEqual([])
})

test('a dialog whose save was rejected still asks before it discards what was typed', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/contacts', { email: 'ada@example.com' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab
  const dialog = page.getByRole('dialog', { name: 'Add contact' })

  await page.goto('contacts')
  await page.getByRole('button', { name: 'Add contact' }).first().click()
  await dialog.getByLabel('Email').fill('ada@example.com')
  await dialog.getByRole('button', { name: 'Add contact' }).click()
  await dialog.getByText('A contact with this email address already exists.').waitFor()
  await page.keyboard.press('Escape')
  await dialog.getByText('You have unsaved changes.').waitFor()
  expect(await dialog.getByLabel('Email').inputValue()).toBe('ada@example.com')

  await dialog.getByLabel('Email').fill('grace@example.com')
  await dialog.getByRole('button', { name: 'Add contact' }).click()
  await page.getByRole('heading', { name: 'grace@example.com' }).waitFor()
  await dialog.waitFor({ state: 'hidden' })
})

test('subscribing an unsubscribed contact again asks for confirmation', async () => {
  const account = await registerOwner(service)
  const contact = await service.manage(account.session, 'POST', '/organization/contacts', { email: 'ada@example.com' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto(`contacts/${contact.body.data.id}`)
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await page.getByText('Unsubscribed', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Subscribe again?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'hidden' })
  expect(await page.getByRole('button', { name: 'Subscribe', exact: true }).isVisible()).toBe(true)

  await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
  await question.getByRole('button', { name: 'Subscribe again' }).click()
  await page.getByRole('button', { name: 'Unsubscribe' }).waitFor()
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByText(`Subscribed to marketing email by ${account.email} in the app`).waitFor()
  await timeline.getByText(`Unsubscribed by ${account.email} in the app`).waitFor()
  await timeline.getByText(`Contact added and subscribed by ${account.email} in the app`).waitFor()
  expect(tab.problems).toEqual([])
})

test('a contact is found without accents, and its international domain is shown in Unicode', async () => {
  const account = await registerOwner(service)
  for (const contact of [{ email: 'zoe@exämple.org', first_name: 'Zoë' }, { email: 'other@example.com' }])
    await service.manage(account.session, 'POST', '/organization/contacts', contact)
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts?query=zoe')
  await page.getByRole('link', { name: 'zoe@exämple.org' }).click()
  await page.getByRole('heading', { name: 'zoe@exämple.org' }).waitFor()
  expect(tab.problems).toEqual([])
})

test('a pasted list of addresses is suppressed, with a result for each entry that was not added', async () => {
  const account = await registerOwner(service)
  await service.manage(account.session, 'POST', '/organization/suppressions', { email: 'ada@example.com' })
  await using tab = await openTab(browser, service, { account })
  const { page } = tab

  await page.goto('contacts/suppressions')
  await page.getByRole('button', { name: 'Add addresses' }).click()
  const dialog = page.getByRole('dialog', { name: 'Suppress addresses' })
  await dialog
    .getByLabel('Email addresses')
    .fill('zoe@exämple.org\nADA@example.com, Bob <bob@example.com>\n\nnonsense\n')
  await dialog.getByRole('button', { name: 'Suppress addresses' }).click()
  await dialog.getByText('2 addresses suppressed. 1 already suppressed. 1 rejected.').waitFor()
  const rows = dialog.getByRole('table', { name: 'Addresses that were not added' }).getByRole('row')
  expect(await rows.nth(1).textContent()).toBe('2ADA@example.comAlready suppressed')
  expect(await rows.nth(2).textContent()).toContain('4nonsenseRejected: ')
  await dialog.getByRole('button', { name: 'Done' }).click()

  const list = page.getByRole('table', { name: 'Suppressions' })
  await list.getByText('bob@example.com').waitFor()
  await page.getByLabel('Search addresses').fill('exämple')
  await list.getByText('bob@example.com').waitFor({ state: 'hidden' })
  await list.getByText('zoe@exämple.org').waitFor()
  expect(tab.problems).toEqual([])
})
