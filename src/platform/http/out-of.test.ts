import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { type ContactId, newId, toText } from '../values/ids.ts'
import { Nullable, Timestamp } from './envelope.ts'
import { outOf } from './out-of.ts'

const Card = Type.Object({
  id: Type.String(),
  first_name: Nullable(Type.String()),
  seen_at: Nullable(Timestamp),
  attempt_count: Type.Integer(),
  label: Type.String(),
})

test('a row becomes the fields of the schema: ids with their prefix, times as text, and nothing else', () => {
  const cardOut = outOf(
    Card,
    { id: 'con' },
    { label: ({ attemptCount }: { attemptCount: number }) => `${attemptCount}x` },
  )
  const id = newId('con')
  const row = { id, firstName: null, seenAt: new Date(0), attemptCount: 2, passwordHash: 'secret' }
  expect(cardOut(row)).toEqual({
    id: toText('con', id),
    first_name: null,
    seen_at: '1970-01-01T00:00:00.000Z',
    attempt_count: 2,
    label: '2x',
  })
})

test('an id that is not named, and a missing column, do not compile', () => {
  const cardOut = outOf(Card, {})
  const row = { firstName: null, seenAt: null, attemptCount: 0, label: '' }
  // @ts-expect-error: the id would be written without its prefix.
  expect(() => cardOut({ ...row, id: newId('con') as ContactId })).not.toThrow()
  // @ts-expect-error: there is no column for `id`.
  expect(() => cardOut(row)).not.toThrow()
})
