import { toValue } from 'liquidjs'
import type { Budget } from '../budget.ts'

/** Returns a value as text: nothing for nil, the concatenated elements of a list, and an object as JSON. */
export function textOf(value: unknown, budget: Budget): string {
  if (typeof value === 'string') return value
  const plain: unknown = toValue(value)
  if (plain === undefined || plain === null) return ''
  if (Array.isArray(plain)) {
    budget.weigh(plain)
    return plain.map((element) => textOf(element, budget)).join('')
  }
  return typeof plain === 'object' ? jsonOf(plain, budget) : String(plain)
}

/** Returns JSON. Each value is counted, so that a list that contains itself many times cannot grow without limit. */
export function jsonOf(value: unknown, budget: Budget): string {
  const json = JSON.stringify(value, (key, inner: unknown) => {
    budget.use(key.length + (typeof inner === 'string' ? inner.length : 8))
    return inner
  })
  return json ?? ''
}
