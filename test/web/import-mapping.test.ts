import { expect, test } from 'vitest'
import type { FileInspection } from '../../web/src/api/types.ts'
import { toUtf8 } from '../../web/src/audience/contacts/file-encoding.ts'
import { suggestedChoices, toMapping } from '../../web/src/audience/contacts/import-mapping.ts'

const inspection = (names: (string | null)[], mapping: Partial<FileInspection['mapping']>): FileInspection => ({
  delimiter: ',',
  has_header: true,
  columns: names.map((name, index) => ({ position: index + 1, name, decimal_comma: false })),
  rows: [],
  mapping: { email: null, first_name: null, last_name: null, status: null, attributes: {}, ...mapping },
  note: null,
  problem: null,
})

test('a file in Windows-1252 or UTF-16 is converted, and one in UTF-8 is sent unchanged', async () => {
  const text = 'email,name\na@b.example,Jörg\n'
  for (const [content, encoding] of [
    [text, 'UTF-8'],
    [Buffer.from(text, 'latin1'), 'Windows-1252'],
    [Buffer.from(`\ufeff${text}`, 'utf16le'), 'UTF-16'],
    [Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), 'UTF-16'],
  ] as const) {
    const converted = await toUtf8(new File([content], 'people.csv'))
    expect([converted.encoding, await converted.file.text()]).toEqual([encoding, text])
  }
  // One invalid byte among valid letters is not another encoding.
  const damaged = Buffer.concat([Buffer.from(text.repeat(2)), Buffer.from([0xe9])])
  expect(await toUtf8(new File([damaged], 'people.csv'))).toMatchObject({ encoding: 'UTF-8' })
})

test('the suggested mapping is used, and columns that share a name or have none are shown with their positions', () => {
  const choices = suggestedChoices(
    inspection(['Mail', 'phone', 'phone', null, 'Status'], {
      email: 1,
      status: 5,
      attributes: { phone: 2, status: 5 },
    }),
  )
  expect(choices.map(({ title, target }) => [title, target])).toEqual([
    ['Mail', 'email'],
    ['phone (column 2)', 'attribute'],
    ['phone (column 3)', 'ignore'],
    ['Column 4', 'ignore'],
    ['Status', 'status'],
  ])
  expect(toMapping(choices, true)).toEqual({ email: 1, status: 5, attributes: { phone: 2 }, has_header: true })
})

test('invalid choices are explained', () => {
  const attributes = Object.fromEntries(Array.from({ length: 102 }, (_, i) => [`c${i}`, i + 2]))
  const wide = suggestedChoices(inspection(['email', ...Object.keys(attributes)], { email: 1, attributes }))
  expect(toMapping(wide, true)).toBe('A contact has at most 100 attributes. Skip 2 more of the columns.')
  expect(toMapping(wide.slice(1, 3), true)).toBe('Choose the column that contains the email address.')
  const [email, other] = wide
  const twice = [email!, { ...other!, target: 'email' as const }]
  expect(toMapping(twice, true)).toBe('Two columns are imported as the same field: “email” and “c0”.')
  const unnamed = [email!, { ...other!, attribute: '' }]
  expect(toMapping(unnamed, true)).toBe('Name the attribute for the column “c0”.')
  const same = [email!, other!, { ...other!, position: 3 }]
  expect(toMapping(same, true)).toBe('Two columns have the attribute name “c0”.')
})
