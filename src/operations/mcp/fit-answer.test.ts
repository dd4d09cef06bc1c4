import { expect, test } from 'vitest'
import { answerBytesMax, countFitting, shortenToFit, sizeOf } from './fit-answer.ts'

test('long texts are shortened and say so; what fits is unchanged', () => {
  const flow = { id: 'flw_1', subject: 'Hello', html: '<p>"é"</p>'.repeat(50_000), text: 'word '.repeat(100) }
  const shown = shortenToFit(flow) as typeof flow
  expect(sizeOf(shown)).toBeLessThanOrEqual(answerBytesMax)
  expect(shown).toMatchObject({ id: 'flw_1', subject: 'Hello', text: flow.text })
  expect(shown.html).toMatch(/^<p>"é"<\/p>.*… \(500000 characters in all\)$/)
  expect(shortenToFit({ ...flow, html: '' })).toEqual({ ...flow, html: '' })
})

test('every value fits at last', () => {
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field ${index}`, index]))
  const names = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}${'n'.repeat(5_000)}`, 1]))
  const deep = JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`)
  for (const value of [wide, names, deep, [wide, wide], Array.from({ length: 20 }, () => wide)])
    expect(sizeOf(shortenToFit(value))).toBeLessThanOrEqual(answerBytesMax)
})

test('as many entries as fit are counted, and at least one', () => {
  const items = Array.from({ length: 100 }, () => 'x'.repeat(1_000))
  const count = countFitting(items, 1_000)
  expect(count).toBeGreaterThan(20)
  expect(items.slice(0, count).reduce((bytes, item) => bytes + sizeOf(item), 1_000)).toBeLessThanOrEqual(answerBytesMax)
  expect(countFitting(['x'.repeat(100_000)], 0)).toBe(1)
})
