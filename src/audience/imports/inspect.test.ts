import { expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../../test/support/test-app.ts'
import { sliceBytes } from './csv.ts'
import { inspectFile } from './inspect.task.ts'

const inspect = (app: TestApp, raw: string | Uint8Array, query = '', type = 'text/csv') =>
  app.call('POST', `/api/v1/organization/contacts/import/inspect${query}`, {
    headers: { authorization: `Bearer ${app.session}`, 'content-type': type },
    raw,
  })

const suggest = (text: string, hasHeader?: boolean) => inspectFile({ bytes: Buffer.from(text), hasHeader })

test('inspecting a file returns its delimiter, columns, rows and a detected mapping', async () => {
  await using app = await startTestApp()
  const file =
    '\ufeffVorname;E-mail 1 - Value;Plan;Plan;;Status\nAda;ada@example.com;"pro;x";y;z;active\nBob;bob@example.com\n'
  const { status, body } = await inspect(app, file)
  expect([status, body.data]).toEqual([
    200,
    {
      delimiter: ';',
      has_header: true,
      columns: ['Vorname', 'E-mail 1 - Value', 'Plan', 'Plan', null, 'Status'].map((name, index) => ({
        position: index + 1,
        name,
        decimal_comma: false,
      })),
      rows: [
        ['Ada', 'ada@example.com', 'pro;x', 'y', 'z', 'active'],
        ['Bob', 'bob@example.com'],
      ],
      mapping: { email: 2, first_name: 1, last_name: null, status: 6, attributes: { plan: 3, status: 6 } },
      note: 'Skipped columns with the same name as an earlier column: "Plan". Choose the columns to import in the mapping.',
      problem: null,
    },
  ])
  const asData = (await inspect(app, file, '?has_header=false')).body.data
  expect(asData).toMatchObject({ has_header: false, mapping: { email: 2, attributes: {} } })
  expect(asData.rows[0][0]).toBe('Vorname')
  expect((await app.manage('GET', '/organization/contacts')).body.data).toEqual([])
  expect((await app.manage('GET', '/organization/imports')).body.data).toEqual([])
})

test('files that cannot be inspected are rejected with the reason', async () => {
  await using app = await startTestApp()
  const cases: [string | Uint8Array, RegExp][] = [
    ['\n\n', /The file is empty/],
    ['PK\x03\x04zip', /This is a spreadsheet/],
    [Buffer.from('email,pr\xe9nom\na@b.example,x', 'latin1'), /not UTF-8/],
    [`${'a,'.repeat(1_000)}b\n`, /more than 1000 columns/],
  ]
  for (const [file, message] of cases) {
    const { status, body } = await inspect(app, file)
    expect([status, body.message]).toEqual([422, expect.stringMatching(message)])
  }
  expect((await inspect(app, '{}', '', 'application/json')).status).toBe(415)
  expect((await inspect(app, 'a'.repeat(sliceBytes + 1))).status).toBe(413)
})

test('the address column is recognized by its name or by its cells, and may be missing', () => {
  for (const name of ['E-mail address', 'E-mail 1 - Value', 'subscriber_email', 'Customer Email', 'Kontakt'])
    expect([name, suggest(`Name,${name}\nAda,ada@example.com\n`).columns.email]).toEqual([name, 1])
  expect(suggest('Name,Plan\nAda,pro\n').columns).toMatchObject({
    email: null,
    attributes: [
      ['name', 0],
      ['plan', 1],
    ],
  })
})

test('a first row with an address is data, unless the caller declares a header', () => {
  const file = 'Ann,ann@mail.example\nBob,bob@mail.example\n'
  expect(suggest(file)).toMatchObject({ hasHeader: false, header: [], columns: { email: 1, attributes: [] } })
  expect(suggest(file).rows).toHaveLength(2)
  expect(suggest(file, true)).toMatchObject({ hasHeader: true, header: ['Ann', 'ann@mail.example'] })
  expect(suggest('Name,Mail\nBob,bob@mail.example\n', false).columns.email).toBe(1)
})

test('an unclosed quote is reported, but not if the file was cut at the limit', () => {
  expect(suggest('email\na@b.example\n"b@b.example\n').problem).toMatch(/line 3 does not end/)
  const start = Buffer.alloc(sliceBytes, 'email\n"ada@b.example, and a longer text"\n')
  expect(inspectFile({ bytes: start, hasHeader: undefined })).toMatchObject({ problem: null, header: ['email'] })
})
