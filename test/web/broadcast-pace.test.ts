import { expect, test } from 'vitest'
import { refetchMsOf } from '../../web/src/broadcasts/pace.ts'

test('a broadcast is fetched often while it is active, and for a minute if its results stay outdated', () => {
  const sent = { status: 'sent', results_outdated: false } as const
  expect(refetchMsOf({ ...sent, status: 'sending' }, 1_000)).toBe(1_500)
  expect(refetchMsOf(sent, 1)).toBe(15_000)
  expect(refetchMsOf({ ...sent, results_outdated: true }, 1)).toBe(1_500)
  expect(refetchMsOf({ ...sent, results_outdated: true }, 40)).toBe(15_000)
})
