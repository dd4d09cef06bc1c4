import { expect, test } from 'vitest'
import { rememberLast } from './remember-last.ts'

test('a result is computed again only if an argument differs', () => {
  let computed = 0
  const join = rememberLast((a: string | null, b: number) => `${a} ${b} ${++computed}`)
  expect([join('x', 1), join('x', 1), join('x', 2), join(null, 2), join(null, 2), join('x', 1)]).toEqual([
    'x 1 1',
    'x 1 1',
    'x 2 2',
    'null 2 3',
    'null 2 3',
    'x 1 4',
  ])
})

test('an error is thrown again', () => {
  const fail = rememberLast((text: string) => {
    throw new Error(text)
  })
  expect(() => fail('a')).toThrow('a')
  expect(() => fail('a')).toThrow('a')
})
