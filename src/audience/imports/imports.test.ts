import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { create } from '../../../test/support/resources.ts'
import { oneServerTest } from '../../../test/support/server-tests.ts'
import { startSharedApp, startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import type { Db } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { importKind, importSlice, importWorker, startsMax } from './import.job.ts'
import { readImportSlice, type SliceInput } from './import.task.ts'
import { findImport, type Import } from './imports.sql.ts'

const newOrganization = await startSharedApp()
/** Without workers: the test itself does the work of an import. */
const newIdleOrganization = await startSharedApp({}, ['serve'])

const log = pino({ level: 'silent' })
const readSlice = async (_organizationId: OrganizationId, input: SliceInput) => readImportSlice(input)

async function upload(app: TestApp, file: string | Uint8Array, query: Record<string, string> = {}) {
  return app.call('POST', `/api/v1/organization/contacts/import?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' },
    raw: file,
  })
}

const read = async (app: TestApp, id: string) => (await app.manage('GET', `/organization/imports/${id}`)).body.data

async function importFile(app: TestApp, file: string | Uint8Array, query: Record<string, string> = {}) {
  const accepted = await upload(app, file, query)
  expect(accepted.status, accepted.text).toBe(202)
  return until('the import to end', async () => {
    const record = await read(app, accepted.body.data.id)
    return ['done', 'failed'].includes(record.status) && record
  })
}

type ContactOut = {
  email: string
  first_name: string | null
  last_name: string | null
  status: string
  attributes: Record<string, string>
}

async function contactsOf(app: TestApp) {
  const { data } = (await app.manage('GET', '/organization/contacts?limit=100')).body
  return new Map((data as ContactOut[]).map((contact) => [contact.email, contact]))
}

test('a file is imported into a group with detected columns, and the report lists rejected lines', async () => {
  await using app = await startTestApp()
  const group = await create(app, '/groups', { name: 'Imported' })
  await app.manage('POST', '/organization/contacts', { email: 'known@example.com', first_name: 'Known' })
  const file = [
    '\ufeffE-Mail Address;First Name;Surname;Plan Name;Plan Name;',
    'Ada@Example.com; Ada ;"Love;lace";pro;x;',
    '',
    'known@example.com;;New;"multi',
    'line";;',
    'not an address;X;Y;;;',
    ';Nobody;;;;',
    'ada@example.com;;;free;;',
    'b@example.com;too;many;columns;here;;and more',
    'c@example.com',
  ].join('\r\n')
  const accepted = await upload(app, file, { group_id: group.id, filename: 'people.csv' })
  expect([accepted.status, accepted.body.data]).toMatchObject([
    202,
    { filename: 'people.csv', group_id: group.id, problem: null, bytes_total: Buffer.byteLength(file) },
  ])
  const done = await until('the import to be done', async () => {
    const record = await read(app, accepted.body.data.id)
    return record.status === 'done' && record
  })
  expect(done).toMatchObject({ rows_done: 7, created: 2, updated: 2, rejected: 3 })
  expect(done.note).toBe(
    'Skipped columns with the same name as an earlier column: "Plan Name". Choose the columns to import in the mapping.',
  )
  expect(done.bytes_done).toBe(done.bytes_total)
  expect(done.finished_at).not.toBe(null)
  expect(done.errors).toEqual([
    {
      line: 6,
      email: 'not an address',
      problem: 'email is not a valid email address',
      cells: ['not an address', 'X', 'Y', '', '', ''],
    },
    { line: 7, email: '', problem: 'email must not be empty', cells: ['', 'Nobody', '', '', '', ''] },
    {
      line: 9,
      email: null,
      problem: 'has 7 columns, but the first row has 6',
      cells: ['b@example.com', 'too', 'many', 'columns', 'here', '', 'and more'],
    },
  ])
  const contacts = await contactsOf(app)
  expect(contacts.get('Ada@example.com')).toMatchObject({
    first_name: 'Ada',
    last_name: 'Love;lace',
    attributes: { plan_name: 'free' },
    status: 'subscribed',
    groups: [{ id: group.id }],
  })
  expect(contacts.get('known@example.com')).toMatchObject({
    first_name: 'Known',
    last_name: 'New',
    attributes: { plan_name: 'multi\r\nline' },
  })
  expect(contacts.size).toBe(3)
  expect((await app.manage('GET', '/organization/imports')).body.data).toMatchObject([{ id: done.id, created: 2 }])
  expect(await app.db`select from import_chunks`).toHaveLength(0)
  expect(await app.db`select from lanes where kind = 'contacts.import'`).toHaveLength(0)
})

test('a dry run counts what an import would do, changes nothing, and is started or cancelled', async () => {
  const app = await newOrganization()
  const group = await create(app, '/groups', { name: 'Imported' })
  await app.manage('POST', '/organization/contacts', { email: 'known@example.com', first_name: 'Known' })
  // More than one slice.
  const people = Array.from({ length: 5_100 }, (_, index) => `person${index}@example.com,Person ${index}`)
  const file = ['Email,First name', 'KNOWN@example.com,New', 'nobody,X', 'person0@example.com,Y', ...people].join('\n')
  const check = async () => {
    const { body } = await upload(app, file, { dry_run: 'true', group_id: group.id })
    return until('the check to end', async () => {
      const record = await read(app, body.data.id)
      return record.status === 'checked' && record
    })
  }
  const counts = { rows_done: 5_103, created: 5_100, updated: 2, rejected: 1 }
  const problem = [{ line: 3, email: 'nobody', problem: 'email is not a valid email address', cells: ['nobody', 'X'] }]
  const checked = await check()
  expect(checked).toMatchObject({ ...counts, dry_run: true, errors: problem, finished_at: null, undo_until: null })
  expect([...(await contactsOf(app))].map(([email]) => email)).toEqual(['known@example.com'])

  const path = `/organization/imports/${checked.id}`
  expect((await app.manage('POST', `${path}/start`)).body.data).toMatchObject({ dry_run: false, created: 0 })
  const done = await until('the import to end', async () => {
    const record = await read(app, checked.id)
    return record.status === 'done' && record
  })
  expect(done).toMatchObject({ ...counts, dry_run: false, errors: problem })
  expect(done.undo_until).not.toBeNull()
  expect((await app.manage('POST', `${path}/start`)).status).toBe(409)

  const dropped = await check()
  expect(dropped).toMatchObject({ created: 0, updated: 5_102 })
  expect((await app.manage('POST', `/organization/imports/${dropped.id}/cancel`)).body.data).toMatchObject({
    status: 'cancelled',
    dry_run: true,
    undo_until: null,
  })
  expect((await app.manage('POST', `/organization/imports/${dropped.id}/start`)).status).toBe(409)
  expect(
    await app.db`select from import_chunks where organization_id = ${parseId('org', app.organizationId)!}`,
  ).toEqual([])
})

test('a file that cannot be read fails its dry run, and dry runs that are not started are deleted after a day', async () => {
  const app = await newOrganization()
  const ended = async (file: string) => {
    const { body } = await upload(app, file, { dry_run: 'true' })
    return until('the check to end', async () => {
      const record = await read(app, body.data.id)
      return ['checked', 'failed'].includes(record.status) && record
    })
  }
  expect(await ended('Email\na@example.com\n"b@example.com\n')).toMatchObject({
    status: 'failed',
    dry_run: true,
    problem: expect.stringMatching(/line 3 does not end/),
  })
  expect([...(await contactsOf(app))]).toEqual([])
  const { id } = await ended('Email\na@example.com\n')
  await app.db.statement`update imports set created_at = now() - interval '25 hours' where status = 'checked'`
  await upload(app, 'Email\nb@example.com\n')
  expect((await app.manage('GET', `/organization/imports/${id}`)).status).toBe(404)
})

test('addresses with names and numbers with decimal commas are imported', async () => {
  const app = await newOrganization()
  const rows = [
    'Kunde;Umsatz;Artikelnummer;Preis',
    '"Max Muster" <Max@example.com>;1.234,50;1,234;12,5',
    '"""Muster, Eva"" <eva@example.com>";-3;1,235;12.5',
    'Madonna <madonna@example.com>;0,5;;7',
    '"info@example.com" <info@example.com>;n/a;;',
    'plain@example.com;12;1,236;8',
  ]
  const mapping = { email: 1, attributes: { umsatz: 2, nummer: 3, preis: 4 } }
  const record = await importFile(app, rows.slice(0, 5).join('\n'), { mapping: JSON.stringify(mapping) })
  expect(record).toMatchObject({ created: 4, rejected: 0 })
  const contacts = await contactsOf(app)
  expect(contacts.get('Max@example.com')).toMatchObject({
    first_name: 'Max',
    last_name: 'Muster',
    // One cell of the column is not a number, so nothing is known about its commas.
    attributes: { umsatz: '1.234,50', nummer: '1,234', preis: '12,5' },
  })
  expect(contacts.get('eva@example.com')).toMatchObject({ first_name: 'Eva', last_name: 'Muster' })
  expect(contacts.get('madonna@example.com')).toMatchObject({ first_name: 'Madonna', last_name: null })
  expect(contacts.get('info@example.com')).toMatchObject({ first_name: null, last_name: null })

  await importFile(app, [...rows.slice(0, 4), rows[5]].join('\n'), { mapping: JSON.stringify(mapping) })
  const attributes = async (email: string) => (await contactsOf(app)).get(email)?.attributes
  // 1,234 may be a number with thousands, and 12.5 has no decimal comma, so these columns stay as they are.
  expect(await attributes('Max@example.com')).toEqual({ umsatz: '1234.50', nummer: '1,234', preis: '12,5' })
  expect(await attributes('madonna@example.com')).toMatchObject({ umsatz: '0.5' })
  // Without a mapping, the column is found by its cells; a column for names is preferred to the name in the address.
  await importFile(app, 'Kunde;Vorname\n"Max" <max@example.com>;Maximilian\n')
  expect((await contactsOf(app)).get('Max@example.com')).toMatchObject({
    first_name: 'Maximilian',
    last_name: 'Muster',
  })
})

test('the status column unsubscribes and suppresses contacts, and an import never resubscribes', async () => {
  const app = await newOrganization()
  const add = async (email: string) => (await create(app, '/contacts', { email })).id
  await add('known@example.com')
  const left = await add('left@example.com')
  await app.manage('PATCH', `/organization/contacts/${left}`, { status: 'unsubscribed' })
  const erased = await add('erased@example.com')
  await app.manage('PATCH', `/organization/contacts/${erased}`, { status: 'unsubscribed' })
  await app.manage('DELETE', `/organization/contacts/${erased}`)
  const rows = [
    ['new@example.com', 'Unsubscribed'],
    ['known@example.com', 'opted-out'],
    ['twice@example.com', 'no'],
    ['twice@example.com', 'yes'],
    ['left@example.com', 'subscribed'],
    ['erased@example.com', 'active'],
    ['bounced@example.com', 'hard_bounce'],
    ['spam@example.com', 'complained'],
    ['blocked@example.com', 'Blacklisted'],
    ['fine@example.com', ''],
    ['lead@example.com', 'lead'],
    ['x'.repeat(100_000), '\u0007'.repeat(100)],
  ]
  const group = await create(app, '/groups', { name: 'Imported' })
  const file = ['email,Status', ...rows.map((row) => row.join())].join('\n')
  const mapping = '{"email":"email","status":"Status"}'
  const done = await importFile(app, file, { group_id: group.id, mapping })
  expect(done).toMatchObject({ status: 'done', subscription: 'subscribed', created: 7, updated: 3, rejected: 2 })
  expect(done.errors).toMatchObject([
    { line: 12, email: 'lead@example.com', problem: expect.stringContaining('status "lead" is unknown') },
    { line: 13, email: 'x'.repeat(320), problem: expect.stringContaining('status "" is unknown') },
  ])
  const contacts = await contactsOf(app)
  expect(Object.fromEntries([...contacts].map(([email, contact]) => [email, contact.status]))).toEqual({
    'new@example.com': 'unsubscribed',
    'known@example.com': 'unsubscribed',
    'twice@example.com': 'unsubscribed',
    'left@example.com': 'unsubscribed',
    'erased@example.com': 'unsubscribed',
    'bounced@example.com': 'suppressed',
    'spam@example.com': 'suppressed',
    'blocked@example.com': 'suppressed',
    'fine@example.com': 'subscribed',
  })
  expect(contacts.get('fine@example.com')!.attributes).toEqual({})
  const { data } = (await app.manage('GET', '/organization/suppressions')).body
  const reasons = data.map((entry: { email: string; reason: string }) => [entry.email.split('@')[0], entry.reason])
  expect(reasons.sort()).toEqual([
    ['blocked', 'manual'],
    ['bounced', 'hard_bounce'],
    ['erased', 'unsubscribe'],
    ['known', 'unsubscribe'],
    ['left', 'unsubscribe'],
    ['new', 'unsubscribe'],
    ['spam', 'complaint'],
    ['twice', 'unsubscribe'],
  ])
})

test('the attributes of an import are listed until it is undone, however few contacts have them', async () => {
  const app = await newOrganization()
  const { id } = await importFile(app, 'email,plan\nada@example.com,pro\n')
  const [contact] = (await app.manage('GET', '/organization/contacts')).body.data
  expect((await app.manage('DELETE', `/organization/contacts/${contact.id}`)).status).toBe(200)
  const attributes = async () => (await app.manage('GET', '/organization/contacts/attributes')).body.data
  expect(await attributes()).toEqual([{ name: 'plan', type: 'text' }])
  expect((await app.manage('POST', `/organization/imports/${id}/undo`)).status).toBe(202)
  expect(await attributes()).toEqual([])
})

test('a detected status column unsubscribes contacts and is stored as an attribute', async () => {
  const app = await newOrganization()
  const file = 'email,Status\nlead@example.com,lead\nleft@example.com,unsubscribed'
  expect(await importFile(app, file)).toMatchObject({ status: 'done', created: 2, rejected: 0 })
  const contacts = await contactsOf(app)
  expect(contacts.get('lead@example.com')).toMatchObject({ status: 'subscribed', attributes: { status: 'lead' } })
  expect(contacts.get('left@example.com')).toMatchObject({ status: 'unsubscribed' })
})

test('contacts can be imported as not subscribed, and existing subscriptions do not change', async () => {
  const app = await newOrganization()
  await app.manage('POST', '/organization/contacts', { email: 'known@example.com' })
  const file = 'Address,State\nnew@example.com,\nknown@example.com,1\nleft@example.com,0\n'
  const query = { mapping: '{"email":"Address","status":"State"}', subscription: 'not_subscribed' }
  for (let times = 0; times < 2; times++)
    expect(await importFile(app, file, query)).toMatchObject({ status: 'done', subscription: 'not_subscribed' })
  const statusOf = async (email: string) => (await contactsOf(app)).get(email)?.status
  expect(await statusOf('new@example.com')).toBe('not_subscribed')
  expect(await statusOf('known@example.com')).toBe('subscribed')
  expect(await statusOf('left@example.com')).toBe('unsubscribed')
  await importFile(app, file, { mapping: '{"email":1}' })
  expect(await statusOf('new@example.com')).toBe('subscribed')
  expect(await statusOf('left@example.com')).toBe('unsubscribed')

  const group = await create(app, '/groups', { name: 'Members' })
  const refused = await upload(app, file, { ...query, group_id: group.id })
  expect([refused.status, refused.body.error.fields[0].path]).toEqual([422, 'subscription'])
})

test('a mapping assigns columns to fields, and other columns are ignored', async () => {
  const app = await newOrganization()
  const file = 'Work,Home,Name,Level\nw@example.com,h@example.com,Ada,7\n'
  const mapping = '{ "email": "home", "first_name": "Name", "attributes": { "level": "Level", "__proto__": "Work" } }'
  expect(await importFile(app, file, { mapping })).toMatchObject({ status: 'done', created: 1 })
  expect((await contactsOf(app)).get('h@example.com')).toMatchObject({
    first_name: 'Ada',
    attributes: JSON.parse('{ "level": "7", "__proto__": "w@example.com" }'),
  })
})

test('a mapping can refer to columns by position, also if headers repeat', async () => {
  const app = await newOrganization()
  const file = 'email,phone,phone\na@example.com,111,222\n'
  const mapping = '{ "email": 1, "attributes": { "phone": "phone", "phone2": 3 } }'
  expect(await importFile(app, file, { mapping })).toMatchObject({ status: 'done', created: 1 })
  expect((await contactsOf(app)).get('a@example.com')).toMatchObject({ attributes: { phone: '111', phone2: '222' } })
  expect(await importFile(app, file, { mapping: '{ "email": 4 }' })).toMatchObject({
    status: 'failed',
    problem: 'Column 4 not found. The columns are "email", "phone", "phone".',
  })
})

test('a list of addresses without a header is imported', async () => {
  const app = await newOrganization()
  expect(await importFile(app, 'ada@example.com\nbob@example.com')).toMatchObject({ status: 'done', created: 2 })
  // An address is not a header, even if it contains the word.
  expect(await importFile(app, 'joe@mail.example\nann@mail.example')).toMatchObject({ status: 'done', created: 2 })
})

test('a mapping can declare that the first line is data', async () => {
  const app = await newOrganization()
  const file = '\nh1@h.example,Ann\nh2@h.example,Bob\nwrong,Eve\n'
  const mapping = '{ "email": 1, "first_name": 2, "has_header": false }'
  const record = await importFile(app, file, { mapping })
  expect(record).toMatchObject({ status: 'done', rows_done: 3, created: 2, errors: [{ line: 4 }] })
  expect((await contactsOf(app)).get('h1@h.example')).toMatchObject({ first_name: 'Ann' })
})

test('blank rows before the header affect neither columns nor line numbers', async () => {
  const app = await newOrganization()
  const record = await importFile(app, '\n;\nemail;name\na@example.com;Ada\nwrong;Bob\n')
  expect(record).toMatchObject({ status: 'done', created: 1, errors: [{ line: 5, email: 'wrong' }] })
  expect((await contactsOf(app)).get('a@example.com')).toMatchObject({ attributes: { name: 'Ada' } })
})

test('a file that cannot be read fails with a reason', async () => {
  const app = await newOrganization()
  const problemOf = async (file: string | Uint8Array, query = {}) => {
    const record = await importFile(app, file, query)
    expect(record.status).toBe('failed')
    return record.problem
  }
  expect(await problemOf('PK\x03\x04 and so on')).toContain('Save it as CSV')
  expect(await problemOf(Buffer.from('email\nx', 'utf16le'))).toContain('Save it as CSV')
  expect(await problemOf('Name,Town\nAda,London\n')).toBe(
    'No column contains email addresses. The columns are "Name", "Town".',
  )
  expect(await problemOf('email\nx', { mapping: '{"email":"Mail"}' })).toContain('Column "Mail" not found')
  expect(await problemOf('\n\n')).toBe('The file is empty.')
  expect(await problemOf('email,name\na@example.com,"Ada\nb@example.com,Bob\n')).toContain('row on line 2')
})

test('rows before a fault in the file stay imported and counted', async () => {
  const app = await newOrganization()
  const record = await importFile(app, 'email,name\na@example.com,Ada\nb@example.com,"Bob\n')
  expect(record).toMatchObject({ status: 'failed', created: 1, rows_done: 1 })
  expect((await contactsOf(app)).size).toBe(1)
})

test('invalid UTF-8 rejects only its own line', async () => {
  const app = await newOrganization()
  const record = await importFile(app, Buffer.from('email,name\na@example.com,J\xf6rg\nb@example.com,Bob\n', 'latin1'))
  expect(record).toMatchObject({ status: 'done', created: 1, rejected: 1 })
  expect(record.errors[0]).toMatchObject({ line: 2, problem: 'contains characters that are not UTF-8' })
})

test('an invalid UTF-8 header fails the import, an invalid first line of data only itself', async () => {
  const app = await newOrganization()
  const file = Buffer.from('email,pr\xe9nom\na@example.com,Ada\n', 'latin1')
  for (const query of [{}, { mapping: '{"email":"email"}' }] as Record<string, string>[])
    expect(await importFile(app, file, query)).toMatchObject({
      status: 'failed',
      problem:
        'The first row contains characters that are not UTF-8. Save the file as CSV (UTF-8) and import that file.',
      created: 0,
    })
  const people = Buffer.from('a@example.com,J\xf6rg\nb@example.com,Bob\n', 'latin1')
  for (const query of [{}, { mapping: '{"email":1,"has_header":false}' }] as Record<string, string>[])
    expect(await importFile(app, people, query)).toMatchObject({
      status: 'done',
      rows_done: 2,
      errors: [{ line: 1, problem: 'contains characters that are not UTF-8' }],
    })
})

test('columns beyond a hundred attributes are skipped and listed in the note', async () => {
  const app = await newOrganization()
  const names = Array.from({ length: 101 }, (_, i) => `c${i + 1}`)
  const wide = [...names, 'x'.repeat(59).concat('𝒳𝒳')]
  const record = await importFile(app, `email,${wide.join()}\na@example.com,${wide.join()}\n`)
  expect(record).toMatchObject({ status: 'done', created: 1, problem: null })
  expect(record.note).toBe(
    `Skipped columns because a contact can have at most 100 attributes: "c101", "${'x'.repeat(59)}". Choose the columns to import in the mapping.`,
  )
  const [contact] = [...(await contactsOf(app)).values()] as { attributes: Record<string, string> }[]
  expect(Object.keys(contact!.attributes)).toHaveLength(100)
  expect(await importFile(app, `email,${names.slice(1).join()}\n`)).toMatchObject({ status: 'done', note: null })
})

test('all rejected rows are counted and the first thousand are kept', async () => {
  const app = await newOrganization()
  const record = await importFile(app, `email\n${'wrong\n'.repeat(6_000)}fine@example.com\n`)
  expect(record).toMatchObject({ status: 'done', created: 1, rejected: 6_000, rows_done: 6_001 })
  expect(record.errors).toHaveLength(1_000)
  expect(record.errors.at(-1).line).toBe(1_001)
})

test('an upload without a file or with an unknown group is rejected and stores nothing', async () => {
  await using app = await startTestApp()
  const statusOf = async (answer: ReturnType<typeof upload>) => (await answer).status
  expect(await statusOf(upload(app, ''))).toBe(422)
  expect(await statusOf(upload(app, 'email\n', { group_id: 'grp_nonsense' }))).toBe(404)
  expect(await statusOf(upload(app, 'email\n', { group_id: 'grp_01jcpqr5k8e7rtd5n9x8v2m3q4' }))).toBe(404)
  const columns = ['0', '-1', '1.5', '1e300', 'true', '["a"]', '"a\\u0000"'].flatMap((column) => [
    `{"email":${column}}`,
    `{"email":"a","first_name":${column}}`,
    `{"email":"a","attributes":{"a":${column}}}`,
  ])
  const headers = ['{"email":1,"has_header":"no"}', '{"email":"a","has_header":false}']
  headers.push('{"email":1,"attributes":{"a":"b"},"has_header":false}')
  for (const mapping of ['{', '7', '{}', '{"email":"a","attributes":["a"]}', ...columns, ...headers])
    expect(await statusOf(upload(app, 'email\n', { mapping })), mapping).toBe(422)
  expect(await statusOf(upload(app, 'email\n', { filename: 'a\0b' }))).toBe(422)
  const path = '/organization/contacts/import'
  expect((await app.manage('POST', path, { file: 'x' })).status).toBe(415)
  expect((await app.manage('POST', path)).status).toBe(415)
  expect((await app.manage('GET', '/organization/imports/imp_nonsense')).status).toBe(404)
  expect((await app.manage('GET', '/organization/imports')).body.data).toEqual([])
  expect(await app.db`select from imports`).toHaveLength(0)
})

test('a file with a Content-Length above the limit is rejected before it is read', async () => {
  const app = await newOrganization()
  const { request } = await import('node:http')
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv', 'content-length': 2 ** 30 }
    const sent = request(`${app.url}/api/v1/organization/contacts/import`, { method: 'POST', headers }, (answer) => {
      resolve(answer.statusCode)
      sent.destroy()
    })
    sent.on('error', reject)
    sent.write('email\n')
  })
  expect(status).toBe(413)
})

test('an aborted upload leaves nothing behind', async () => {
  await using app = await startTestApp()
  const { request } = await import('node:http')
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  const sent = request(`${app.url}/api/v1/organization/contacts/import`, { method: 'POST', headers })
  sent.on('error', () => {})
  sent.write(`email\n${'a@example.com\n'.repeat(50_000)}`)
  await until('a piece to be stored', async () => (await app.db`select from import_chunks`).length > 0)
  sent.destroy()
  await until('the rest to be removed', async () => (await app.db`select from imports`).length === 0)
  expect(await app.db`select from import_chunks`).toHaveLength(0)
})

test('an organization can have ten imports in progress, and abandoned uploads are deleted', async () => {
  await using app = await startTestApp({}, ['serve'])
  for (let i = 0; i < 10; i++) expect((await upload(app, 'email\n')).status).toBe(202)
  expect((await upload(app, 'email\n')).status).toBe(409)
  await app.db.statement`update imports set status = 'uploading', created_at = now() - interval '2 hours'`
  expect((await upload(app, 'email\n')).status).toBe(202)
  expect(await app.db`select from imports`).toHaveLength(1)
  expect(await app.db`select from import_chunks`).toHaveLength(1)
})

test('uploads of a crashed process do not block imports', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { id } = (await upload(app, 'email\n')).body.data
  await app.db.statement`
    insert into imports (organization_id, id, file_name, status, progress)
    select organization_id, gen_random_uuid(), file_name, 'uploading', progress
    from imports cross join generate_series(1, 10)`
  expect((await upload(app, 'email\n')).status).toBe(202)
  expect((await app.manage('GET', '/organization/imports')).body.data).toHaveLength(2)
  expect(await read(app, id)).toMatchObject({ status: 'queued' })
})

test('uploads in progress count as imports, also if they start at the same time', async () => {
  const app = await newIdleOrganization()
  const { request } = await import('node:http')
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  const statuses: (number | undefined)[] = []
  const open = Array.from({ length: 15 }, () => {
    const sent = request(`${app.url}/api/v1/organization/contacts/import`, { method: 'POST', headers })
    sent.on('error', () => {})
    sent.on('response', (response) => statuses.push(response.resume().statusCode))
    sent.write('email\n')
    return sent
  })
  await until('five to be refused', () => statuses.length === 5)
  expect((await upload(app, 'email\n')).status).toBe(409)
  expect(new Set(statuses)).toEqual(new Set([409]))
  for (const sent of open) sent.destroy()
  await until('room to be made', async () => (await upload(app, 'email\n')).status === 202)
})

test('deleting the group fails the import', async () => {
  const app = await newIdleOrganization()
  const group = await create(app, '/groups', { name: 'Gone' })
  const accepted = await upload(app, 'email\na@example.com\n', { group_id: group.id })
  await app.manage('DELETE', `/organization/groups/${group.id}`)
  expect(await importSlice({ db: app.db, log, readSlice }, await recordOf(app, accepted.body.data.id), Infinity)).toBe(
    'finished',
  )
  expect(await read(app, accepted.body.data.id)).toMatchObject({
    status: 'failed',
    problem: 'The group was deleted while the file was being imported.',
    created: 0,
  })
})

async function recordOf(app: TestApp, id: string): Promise<Import> {
  return (await findImport(app.db, parseId('org', app.organizationId)!, parseId('imp', id)!))!
}

const numbered = (rows: number) =>
  `email,n\r\n${Array.from({ length: rows }, (_, i) => `m${i}@example.com,"${i}\r\n"\r\n${i % 10 ? '' : 'wrong,\r\n'}`).join('')}`

test('an interrupted import continues after the last counted row', async () => {
  const app = await newIdleOrganization()
  const accepted = await upload(app, numbered(20_000))
  const id = accepted.body.data.id
  // The database fails at every third commit, before or after it, and the worker fails with it.
  let commits = 0
  const dying = new Proxy(app.db, {
    apply: (target, self, args) => Reflect.apply(target as never, self, args),
    get: (target, name) =>
      name !== 'begin'
        ? Reflect.get(target, name)
        : async (...[work, options]: Parameters<Db['begin']>) => {
            commits++
            if (commits % 3 === 2) {
              await target.begin(work, options)
              throw new Error('died after a commit')
            }
            return target.begin(async (tx) => {
              const result = await work(tx)
              if (commits % 3 === 0) throw new Error('died before a commit')
              return result
            }, options)
          },
  })
  let deaths = 0
  let seen = 0
  for (let outcome = ''; outcome !== 'finished'; ) {
    const record = await recordOf(app, id)
    if (record.status === 'done') break
    expect(record.progress.offset).toBeGreaterThanOrEqual(seen)
    seen = record.progress.offset
    outcome = await importSlice({ db: dying, log, readSlice }, record, Infinity).catch((error: Error) => {
      expect(error.message).toContain('died')
      deaths++
      return error.message
    })
  }
  expect(deaths).toBeGreaterThan(4)
  const done = await read(app, id)
  expect(done).toMatchObject({ status: 'done', rows_done: 22_000, created: 20_000, updated: 0, rejected: 2_000 })
  expect(done.errors.map((error: { line: number }) => error.line).slice(0, 3)).toEqual([4, 25, 46])
  const [{ count } = { count: 0 }] = await app.db<{ count: number }>`
    select count(*) from contacts
    where organization_id = ${parseId('org', app.organizationId)} and attributes ->> 'n' is not null`
  expect(count).toBe(20_000)
})

test('a suspended worker whose import was continued by another counts no row twice', async () => {
  const app = await newIdleOrganization()
  const accepted = await upload(app, numbered(12_000))
  const id = accepted.body.data.id
  const stale = [await recordOf(app, id)]
  expect(await importSlice({ db: app.db, log, readSlice }, stale[0]!, 0)).toBe('more')
  stale.push(await recordOf(app, id))
  expect(await importSlice({ db: app.db, log, readSlice }, stale[1]!, 0)).toBe('more')
  for (const record of stale) expect(await importSlice({ db: app.db, log, readSlice }, record, Infinity)).toBe('lost')
  expect(await importSlice({ db: app.db, log, readSlice }, await recordOf(app, id), Infinity)).toBe('finished')
  for (const record of stale) expect(await importSlice({ db: app.db, log, readSlice }, record, Infinity)).toBe('lost')
  expect(await read(app, id)).toMatchObject({ status: 'done', rows_done: 13_200, created: 12_000, rejected: 1_200 })
})

/** Storing a contact fails with this code. */
const failWith = (app: TestApp, code: string) =>
  app.db.statement.script(`
    create or replace function fail() returns trigger language plpgsql as
      $$ begin raise exception 'as the test wants it' using errcode = '${code}'; end $$;
    create or replace trigger fail before insert on contacts for each statement execute function fail()`)

/** What a worker does with an import as it was when it took it up. */
async function work(db: Db, record: Import) {
  const { organizationId, id } = record
  const job = {
    organizationId,
    kind: importKind,
    lane: id,
    id,
    ctid: '(0,1)',
    attempt: 0,
    faults: 0,
    payload: null,
  } as const
  await importWorker({ db, log, readSlice }).handle({ ...job, token: randomUUID() }, record, () => true)
}

oneServerTest('an import fails on data that the database rejects, and retries on other errors', async () => {
  await using app = await startTestApp({}, ['serve'])
  const id = (await upload(app, numbered(10))).body.data.id
  for (const code of ['XX000', '42501', '25P03', '53100']) {
    await failWith(app, code)
    await expect(work(app.db, await recordOf(app, id))).rejects.toMatchObject({ code })
    expect(await read(app, id)).toMatchObject({ status: 'running', problem: null })
  }
  await failWith(app, '22P02')
  await work(app.db, await recordOf(app, id))
  expect(await read(app, id)).toMatchObject({
    status: 'failed',
    problem: 'An internal error occurred. See the server log for details.',
  })
})

test('a suspended worker does not fail an import that another worker continued', async () => {
  const app = await newIdleOrganization()
  const id = (await upload(app, numbered(12_000))).body.data.id
  let isOvertaken = false
  const sleeping = new Proxy(app.db, {
    apply: (target, self, args) => Reflect.apply(target as never, self, args),
    get: (target, name) =>
      name !== 'begin' || isOvertaken
        ? Reflect.get(target, name)
        : async () => {
            isOvertaken = true
            expect(await importSlice({ db: app.db, log, readSlice }, await recordOf(app, id), 0)).toBe('more')
            throw Object.assign(new Error('a fault of the data'), { code: '22P02' })
          },
  })
  await work(sleeping, await recordOf(app, id))
  expect(await read(app, id)).toMatchObject({ status: 'running', problem: null })
})

test('a cancelled import stops after its last batch and keeps the imported rows', async () => {
  await using app = await startTestApp({}, ['serve'])
  const accepted = await upload(app, numbered(12_000))
  const id = accepted.body.data.id
  const start = await recordOf(app, id)
  expect(await importSlice({ db: app.db, log, readSlice }, start, 0)).toBe('more')
  const underWay = await recordOf(app, id)
  const cancel = () => app.manage('POST', `/organization/imports/${id}/cancel`)
  const cancelled = await cancel()
  const { rows, created } = underWay.progress
  expect(rows).toBeGreaterThan(0)
  expect([cancelled.status, cancelled.body.data]).toMatchObject([
    200,
    { status: 'cancelled', rows_done: rows, created, finished_at: expect.any(String) },
  ])
  // A worker that was killed or suspended finds nothing to continue.
  for (const record of [start, underWay])
    expect(await importSlice({ db: app.db, log, readSlice }, record, Infinity)).toBe('lost')
  for (const table of [sql`jobs`, sql`lanes`, sql`import_chunks`])
    expect(await app.db`select from ${table}`).toEqual([])
  expect(await app.db`select from contacts`).toHaveLength(created)
  expect((await cancel()).body.data).toEqual(cancelled.body.data)

  const done = await upload(app, 'email\na@example.com\n')
  expect(await importSlice({ db: app.db, log, readSlice }, await recordOf(app, done.body.data.id), Infinity)).toBe(
    'finished',
  )
  const late = await app.manage('POST', `/organization/imports/${done.body.data.id}/cancel`)
  expect([late.status, late.body.message]).toEqual([409, 'This import has already finished.'])
  expect((await app.manage('POST', '/organization/imports/imp_nonsense/cancel')).status).toBe(404)
})

test('concurrent imports all finish, each with its own counts', async () => {
  const app = await newOrganization()
  const records = await Promise.all([1, 2, 3, 4].map((n) => importFile(app, numbered(n * 100))))
  expect(records.map(({ rows_done: rows }) => rows)).toEqual([110, 220, 330, 440])
  expect(records.reduce((sum, { created }) => sum + created, 0)).toBe(400)
})

test('another organization does not see an import', async () => {
  const [app, other] = [await newOrganization(), await newOrganization()]
  const record = await importFile(app, 'email\na@example.com\n')
  expect((await other.manage('GET', '/organization/imports')).body.data).toEqual([])
  expect((await other.manage('GET', `/organization/imports/${record.id}`)).status).toBe(404)
})

test('an import that crashes the process on every start fails after three starts', async () => {
  await using app = await startTestApp({}, ['serve'])
  const accepted = await upload(app, numbered(100))
  const id = accepted.body.data.id
  // A process killed while reading a file leaves only the count of its start.
  const killed = { db: app.db, log, readSlice: () => new Promise<never>(() => {}) }
  for (let starts = 1; starts <= startsMax; starts++) {
    void importSlice(killed, await recordOf(app, id), Infinity)
    await until('the start to be counted', async () => {
      const [row] = await app.db<{ starts: number }>`select starts from imports`
      return row!.starts === starts
    })
  }
  expect(await importSlice({ db: app.db, log, readSlice }, await recordOf(app, id), Infinity)).toBe('finished')
  expect(await read(app, id)).toMatchObject({
    status: 'failed',
    problem: expect.stringContaining('started 3 times without progress'),
  })
  expect(await app.db`select from jobs`).toEqual([])
})

test('progress clears the count of starts', async () => {
  await using app = await startTestApp({}, ['serve'])
  const accepted = await upload(app, numbered(12_000))
  const id = accepted.body.data.id
  await app.db.statement`update imports set starts = ${startsMax - 1}`
  expect(await importSlice({ db: app.db, log, readSlice }, await recordOf(app, id), 0)).toBe('more')
  expect(await app.db`select starts from imports`).toEqual([{ starts: 0 }])
})

test('a large file of commas fails with the line number', async () => {
  const app = await newOrganization()
  const file = await importFile(app, `email\n${','.repeat(5_000_000)}`)
  expect(file).toMatchObject({ status: 'failed', problem: expect.stringContaining('line 2 does not end'), created: 0 })
  const wide = await importFile(app, `email\na@example.com${','.repeat(5_000)}\nb@example.com\n`)
  expect(wide).toMatchObject({ status: 'done', created: 1, rejected: 1 })
  expect(wide.errors).toMatchObject([{ line: 2, problem: 'has more than 1000 columns', cells: null }])
})

test('the address column is recognized by usual headers, and by its cells if no header matches', async () => {
  const app = await newOrganization()
  const headers = ['E-mail address', 'E-mail 1 - Value', 'subscriber_email', 'Customer Email', 'Contact', 'EMAIL ID']
  for (const [index, header] of headers.entries()) {
    const done = await importFile(app, `Name,${header},"Email status"\nAda,ada${index}@example.com,ok\n`)
    expect([header, done.status, done.created]).toEqual([header, 'done', 1])
  }
})

test('rejected rows keep their cells until the contact is erased, and a report can be imported', async () => {
  const app = await newOrganization()
  const done = await importFile(app, 'email,phone,status2\nbad@,+49 1,x\n"ada@example.com ",2,y,z\n')
  expect(done.columns).toEqual(['email', 'phone', 'status2'])
  expect(done.errors).toMatchObject([
    { line: 2, cells: ['bad@', '+49 1', 'x'] },
    { line: 3, cells: ['ada@example.com ', '2', 'y', 'z'] },
  ])
  await importFile(app, "email,phone,import_line,import_problem\nada@example.com,'+49 1,2,because\n")
  const [ada] = (await app.manage('GET', '/organization/contacts')).body.data
  expect(ada.attributes).toEqual({ phone: '+49 1' })
  await app.manage('DELETE', `/organization/contacts/${ada.id}`)
  expect((await read(app, done.id)).errors.map(({ cells }: { cells: unknown }) => cells)).toEqual([
    ['bad@', '+49 1', 'x'],
    null,
  ])
})
