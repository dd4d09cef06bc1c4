import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type MessageId, newId, parseId, toText } from './ids.ts'

test('every id survives the way to its text and back', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      const text = toText('msg', uuid as MessageId)
      expect(text).toMatch(/^msg_[0-9a-hjkmnp-tv-z]{26}$/)
      expect(parseId('msg', text)).toBe(uuid)
    }),
  )
})

test('ids and their texts sort in the order in which they were made', () => {
  const ids = Array.from({ length: 10_000 }, () => newId('msg'))
  const texts = ids.map((id) => toText('msg', id))
  expect([...ids].sort()).toEqual(ids)
  expect([...texts].sort()).toEqual(texts)
  expect(new Set(ids).size).toBe(ids.length)
})

test('a text of another kind, length or alphabet is no id', () => {
  const text = toText('msg', newId('msg'))
  for (const wrong of [
    text.replace('msg', 'con'),
    text.slice(0, -1),
    `${text}0`,
    text.toUpperCase(),
    'msg_',
    '',
    `msg_8${text.slice(5)}`,
  ])
    expect(parseId('msg', wrong)).toBeUndefined()
})
