import { expect, test } from 'vitest'
import { toContext, withValues } from '../../web/src/content/flows/sample-data.ts'

const variables = (...names: string[]) => names.map((name) => ({ name, has_default: false }))

test('dotted names become nested objects, and empty values are omitted', () => {
  const sample = { 'order.id': 'A-1', 'order.total': '12', coupon: '' }
  expect(JSON.parse(JSON.stringify(toContext(sample, variables('order.id', 'order.total', 'coupon'))))).toEqual({
    order: { id: 'A-1', total: '12' },
  })
})

test('lists and objects are parsed as JSON, and invalid JSON stays text', () => {
  const sample = { items: '["a", "b"]', broken: '[a' }
  expect({ ...toContext(sample, variables('items', 'broken')) }).toEqual({ items: ['a', 'b'], broken: '[a' })
})

test('a variable called __proto__ is treated as data', () => {
  const context = toContext({ '__proto__.polluted': 'yes' }, variables('__proto__.polluted'))
  expect(JSON.stringify(context)).toBe('{"__proto__":{"polluted":"yes"}}')
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('only context variables are included, without their context prefix', () => {
  const names = ['context.order.id', 'contact.first_name', 'organization.name', 'unsubscribe_url', 'contacted']
  const sample = Object.fromEntries(names.map((name) => [name, 'x']))
  expect(JSON.parse(JSON.stringify(toContext(sample, variables(...names))))).toEqual({
    order: { id: 'x' },
    contacted: 'x',
  })
})

test('typed values are set in a saved context, and everything else in it stays as it is', () => {
  const saved = { order: { id: 7, total: 12 }, note: 'x', list: [1, 2] }
  const typed = { 'order.total': '13', 'context.offer.code': 'A', note: '', 'none.such': '' }
  expect(JSON.parse(JSON.stringify(withValues(saved, typed)))).toEqual({
    order: { id: 7, total: '13' },
    offer: { code: 'A' },
    list: [1, 2],
  })
  expect(saved.order.total).toBe(12)
})
