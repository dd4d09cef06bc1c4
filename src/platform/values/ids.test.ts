import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastId, type MessageId, newId, parseId, toText } from './ids.ts'

test('every id round-trips through its text', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      const text = toText('msg', uuid as MessageId)
      expect(text).toMatch(/^msg_[0-9a-hjkmnp-tv-z]{26}$/)
      expect(parseId('msg', text)).toBe(uuid)
    }),
  )
})

test('ids and their texts sort in the order of creation', () => {
  const ids = Array.from({ length: 10_000 }, () => newId('msg'))
  const texts = ids.map((id) => toText('msg', id))
  expect([...ids].sort()).toEqual(ids)
  expect([...texts].sort()).toEqual(texts)
  expect(new Set(ids).size).toBe(ids.length)
})

test('leastId is greater than all earlier ids and not greater than any later one', () => {
  const ms = Date.now() + 1_000
  const [before, from] = [newId('dlv', ms - 1), newId('dlv', ms)]
  expect([leastId('dlv', ms) > before, leastId('dlv', ms) < from]).toEqual([true, true])
  const past = ms - 30 * 24 * 3_600_000
  expect(toText('dlv', leastId('dlv', past)) < toText('dlv', leastId('dlv', past + 1))).toBe(true)
  expect(leastId('dlv', past + 1) < before).toBe(true)
})

test('parseId returns undefined for another prefix, length or alphabet', () => {
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
