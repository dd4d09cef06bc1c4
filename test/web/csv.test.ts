import fc from 'fast-check'
import { expect, test } from 'vitest'
import { guessColumns } from '../../src/contacts/columns.ts'
import { inspect, readSlice } from '../../src/contacts/csv.ts'
import { openCsv } from '../../web/src/contacts/csv-file.ts'
import { parseCsvHead } from '../../web/src/contacts/csv-head.ts'
import { choicesByPosition, guessChoices, looksLikeData, toMapping } from '../../web/src/contacts/csv-mapping.ts'

test('the head of a CSV file is read with quotes, doubled quotes and line breaks within quotes', () => {
  expect(parseCsvHead('email,note\r\nada@example.com,"says ""hi"",\nthen goes"\r\n')).toEqual({
    firstRow: ['email', 'note'],
    nextRows: [['ada@example.com', 'says "hi",\nthen goes']],
  })
})

test.each([
  ['email;name\na@b.example;Ada', ';'],
  ['email\tname\na@b.example\tAda', '\t'],
  ['\uFEFFemail,name\na@b.example,Ada', 'a comma behind a byte order mark'],
])('the delimiter of %j is found to be %j', (text) => {
  expect(parseCsvHead(text)).toEqual({ firstRow: ['email', 'name'], nextRows: [['a@b.example', 'Ada']] })
})

test.each([
  ['"Name, first";email\n"Lovelace, Ada";a@b.example', 'delimiters in quotes do not count'],
  ['\n \r\n;\n"Name, first"; email\n\n"Lovelace, Ada";a@b.example', 'rows without content do not count'],
])('the columns of %j are told apart: %s', (text) => {
  expect(parseCsvHead(text)).toEqual({
    firstRow: ['Name, first', 'email'],
    nextRows: [['Lovelace, Ada', 'a@b.example']],
  })
})

test('the app shows the columns and cells that the service will read, whatever the file', async () => {
  const part = fc.constantFrom(
    'a',
    'é',
    ' ',
    '\t',
    ',',
    ';',
    '|',
    '"',
    '""',
    '\n',
    '\r\n',
    '\r',
    '\ufeff',
    ',"',
    '",',
    ';"',
    '";',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
      const text = parts.join('')
      const bytes = Buffer.from(text)
      const { offset, delimiter } = inspect(bytes)
      const from = { offset, line: 0 }
      const { rows, fault } = readSlice(bytes.subarray(offset), delimiter, from, { isLast: true, rowsMax: 1_000 })
      const read = rows.map((row) => row.cells)
      // Where the service reads no further, for a quote that is never closed, it makes no difference what the app shows.
      const isOpen = fault !== null
      expect((await opened(text)).openQuoteLine !== undefined).toBe(isOpen)
      const { firstRow, nextRows } = parseCsvHead(text)
      expect([firstRow, ...nextRows].slice(0, read.length)).toEqual(read.slice(0, 4))
    }),
    { numRuns: 1_000 },
  )
})

const opened = async (content: string | Buffer) => {
  const csv = await openCsv(new File([content], 'people.csv'))
  if (typeof csv === 'string') throw new Error(csv)
  return { ...csv, sent: await csv.file.text() }
}

test('a file of Windows or in UTF-16 is converted, and one in UTF-8 is sent as it is', async () => {
  const text = 'email,name\na@b.example,Jörg\n'
  const nextRows = [['a@b.example', 'Jörg']]
  const bigEndian = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
  for (const [content, encoding] of [
    [text, 'UTF-8'],
    [Buffer.from(text, 'latin1'), 'Windows-1252'],
    [Buffer.from(`\ufeff${text}`, 'utf16le'), 'UTF-16'],
    [bigEndian, 'UTF-16'],
  ] as const)
    expect(await opened(content)).toMatchObject({ encoding, sent: text, head: { nextRows } })
  // One bad byte among letters that are right is no other encoding: it costs its line.
  const damaged = Buffer.concat([Buffer.from(text.repeat(2)), Buffer.from([0xe9])])
  expect(await opened(damaged)).toMatchObject({ encoding: 'UTF-8', head: { nextRows: [nextRows[0], {}, nextRows[0]] } })
  for (const content of [Buffer.from(text, 'utf16le'), 'PK\x03\x04\x14\0'])
    await expect(opened(content)).rejects.toThrow('people.csv is not a text file in UTF-8.')
})

test('no more than three rows are read behind the first, and an empty file has no columns', () => {
  expect(parseCsvHead(`email\n${'a@b.example\n'.repeat(50)}`).nextRows).toHaveLength(3)
  expect(parseCsvHead('')).toEqual({ firstRow: [], nextRows: [] })
})

test('columns are guessed by their names, each field once, and the rest become attributes', () => {
  const choices = guessChoices(['E-Mail', 'First Name', 'Plan (2026)', 'email'])
  expect(choices.map(({ target, attribute }) => [target, attribute])).toEqual([
    ['email', 'e_mail'],
    ['first_name', 'first_name'],
    ['attribute', 'plan_2026'],
    ['attribute', 'email'],
  ])
  expect(toMapping(choices, false)).toEqual({
    email: 'E-Mail',
    first_name: 'First Name',
    attributes: { plan_2026: 'Plan (2026)', email: 'email' },
    has_header: true,
  })
})

test('the app and the service know a column of statuses by the same names', () => {
  const says = ['Status', 'subscription', 'Subscription Status', 'subscribed', 'is_subscribed', 'Opt-In', 'optin']
  says.push('opted in', 'Accepts Marketing', 'accepts_email_marketing')
  for (const name of [...says, 'unsubscribed', 'opt_out', 'order status']) {
    const status = says.includes(name) ? name : undefined
    expect(toMapping(guessChoices(['email', name]), false)).toMatchObject(status ? { status } : { attributes: {} })
    expect([name, guessColumns(['email', name]).columns.status]).toEqual([name, status ? 1 : null])
  }
})

test('a mapping without an address, or with one field twice, is explained in words', () => {
  expect(toMapping(guessChoices(['Name', 'Plan']), false)).toBe('Choose the column that holds the email address.')
  const twice = guessChoices(['email', 'other']).map((choice) => ({ ...choice, target: 'email' as const }))
  expect(toMapping(twice, false)).toBe('Two columns become the same field: “email” and “other”.')
})

test('more attributes than a contact can have are explained in words', () => {
  const wide = guessChoices(['email', ...Array.from({ length: 102 }, (_, i) => `c${i}`)])
  expect(toMapping(wide, false)).toBe('A contact has at most 100 attributes. Leave out 2 more of the columns.')
  expect(toMapping(wide.slice(0, 101), false)).toMatchObject({ email: 'email' })
})

test('columns that share a name, or have none, are told apart by their positions', () => {
  const choices = guessChoices(['email', 'phone', ' phone', '', 'Phone'])
  expect(choices.map(({ header }) => header)).toEqual([
    'email',
    'phone (column 2)',
    'phone (column 3)',
    'Column 4',
    'Phone',
  ])
  expect(toMapping(choices, false)).toBe('Two columns become the attribute “phone”.')
  const named = choices.map((choice, index) => ({ ...choice, attribute: `p${index}` }))
  named[3]!.target = 'first_name'
  expect(toMapping(named, false)).toEqual({
    email: 'email',
    first_name: 4,
    attributes: { p1: 2, p2: 3, p4: 'Phone' },
    has_header: true,
  })
})

test('a first line with an address is data, unless a column is called one', () => {
  expect(looksLikeData(['Ann', ' ann@mail.example '])).toBe(true)
  expect(looksLikeData(['Name', 'E-Mail', 'boss@mail.example'])).toBe(false)
  expect(looksLikeData(['Name', 'Plan'])).toBe(false)
  const choices = choicesByPosition(['Ann', ' ann@mail.example ', 'pro'])
  expect(toMapping(choices, true)).toEqual({ email: 2, attributes: {}, has_header: false })
})
