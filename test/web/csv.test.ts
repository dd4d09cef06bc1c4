import { expect, test } from 'vitest'
import { parseCsvHead } from '../../web/src/contacts/csv-head.ts'
import { guessChoices, toMapping } from '../../web/src/contacts/csv-mapping.ts'

test('the head of a CSV file is read with quotes, doubled quotes and line breaks within quotes', () => {
  expect(parseCsvHead('email,note\r\nada@example.com,"says ""hi"",\nthen goes"\r\n')).toEqual({
    headers: ['email', 'note'],
    examples: [['ada@example.com', 'says "hi",\nthen goes']],
  })
})

test.each([
  ['email;name\na@b.example;Ada', ';'],
  ['email\tname\na@b.example\tAda', '\t'],
  ['\uFEFFemail,name\na@b.example,Ada', 'a comma behind a byte order mark'],
])('the delimiter of %j is found to be %j', (text) => {
  expect(parseCsvHead(text)).toEqual({ headers: ['email', 'name'], examples: [['a@b.example', 'Ada']] })
})

test('no more than three rows are shown as examples, and an empty file has no columns', () => {
  expect(parseCsvHead(`email\n${'a@b.example\n'.repeat(50)}`).examples).toHaveLength(3)
  expect(parseCsvHead('')).toEqual({ headers: [], examples: [] })
})

test('columns are guessed by their names, each field once, and the rest become attributes', () => {
  const choices = guessChoices(['E-Mail', 'First Name', 'Plan (2026)', 'email'])
  expect(choices.map(({ target, attribute }) => [target, attribute])).toEqual([
    ['email', 'e_mail'],
    ['first_name', 'first_name'],
    ['attribute', 'plan_2026'],
    ['attribute', 'email'],
  ])
  expect(toMapping(choices)).toEqual({
    email: 'E-Mail',
    first_name: 'First Name',
    attributes: { plan_2026: 'Plan (2026)', email: 'email' },
  })
})

test('a mapping without an address, or with one field twice, is explained in words', () => {
  expect(toMapping(guessChoices(['Name', 'Plan']))).toBe('Choose the column that holds the email address.')
  const twice = guessChoices(['email', 'other']).map((choice) => ({ ...choice, target: 'email' as const }))
  expect(toMapping(twice)).toBe('Two columns become the same field: “email” and “other”.')
})
