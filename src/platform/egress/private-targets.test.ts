import { expect, test } from 'vitest'
import { privateTargetWarning } from './private-targets.ts'

test('allowing private addresses causes a warning, and a stronger one if others can create webhooks', () => {
  const warn = (allowed: boolean, signup: 'open' | 'first-user', host: string) =>
    privateTargetWarning({ EGRESS_ALLOW_PRIVATE: allowed, SIGNUP: signup, HOST: host })
  expect(warn(false, 'open', '0.0.0.0')).toBeUndefined()
  for (const host of ['127.0.0.1', 'localhost', '::1']) expect(warn(true, 'first-user', host)?.isExposed).toBe(false)
  for (const host of ['0.0.0.0', '::', '192.0.2.1']) expect(warn(true, 'first-user', host)?.isExposed).toBe(true)
  expect(warn(true, 'open', '127.0.0.1')).toMatchObject({
    isExposed: true,
    message: expect.stringContaining('SIGNUP=open'),
  })
})
