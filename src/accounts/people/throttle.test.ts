import { expect, test } from 'vitest'
import { Refusal } from '../../platform/values/errors.ts'
import { LoginThrottle } from './throttle.ts'

const owner = 'owner@acme.example'
const home = '192.0.2.1'

function startThrottle() {
  const throttle = new LoginThrottle()
  const outcome = async (account: string, address: string, check: () => Promise<'user' | undefined>) => {
    try {
      return (await throttle.attempt(account, address, check)) ? 'in' : 'wrong'
    } catch (error) {
      return error instanceof Refusal ? error.type : 'fault'
    }
  }
  return {
    right: (account = owner, address = home) => outcome(account, address, async () => 'user'),
    wrong: (account = owner, address = home) => outcome(account, address, async () => undefined),
    broken: (account = owner, address = home) =>
      outcome(account, address, () => Promise.reject(new Error('no database'))),
  }
}

test('does not limit successful sign-ins', async () => {
  const { right, wrong } = startThrottle()
  for (let n = 0; n < 200; n++) expect(await right()).toBe('in')
  for (let n = 0; n < 200; n++) expect(await right(`user${n}@acme.example`)).toBe('in')
  expect(await wrong('new@acme.example')).toBe('wrong')
})

test('does not count an attempt that could not be checked', async () => {
  const { right, broken } = startThrottle()
  for (let n = 0; n < 200; n++) expect(await broken()).toBe('fault')
  expect(await right()).toBe('in')
})

test('limits attempts on one account from many addresses to a hundred', async () => {
  const { right, wrong } = startThrottle()
  const outcomes = []
  for (let n = 0; n < 120; n++) outcomes.push(await wrong(owner, `198.51.100.${n}`))
  expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(100)
  expect(await right()).toBe('rate_limited')
})

test('attempts from other addresses do not lock out a user at an address that signed in before', async () => {
  const { right, wrong } = startThrottle()
  await right()
  for (let n = 0; n < 120; n++) await wrong(owner, `198.51.100.${n}`)
  for (let n = 0; n < 9; n++) expect(await wrong()).toBe('wrong')
  expect(await right()).toBe('in')

  for (let n = 0; n < 10; n++) expect(await wrong()).toBe('wrong')
  expect(await wrong()).toBe('rate_limited')
})

test('limits attempts of one address on many accounts to fifty', async () => {
  const { wrong } = startThrottle()
  const outcomes = []
  for (let n = 0; n < 60; n++) outcomes.push(await wrong(`user${n}@acme.example`))
  expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(50)
  expect(await wrong(owner, '198.51.100.1')).toBe('wrong')
})

test('counts attempts from one IPv6 network together', async () => {
  const { wrong } = startThrottle()
  const outcomes: string[] = []
  for (let n = 0; n < 60; n++) outcomes.push(await wrong(`user${n}@acme.example`, `2001:db8:1:2::${n.toString(16)}`))
  expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(50)
  expect(await wrong('user@acme.example', '2001:db8:1:3::1')).toBe('wrong')
})

test('many other names do not reset the count of an account under attack', async () => {
  const { wrong } = startThrottle()
  const flood = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await wrong(`user${n}@acme.example`, `198.51.${n >> 8}.${n & 255}`)
  }
  await flood(0, 12_000)
  for (let n = 0; n < 10; n++) await wrong()
  await flood(12_000, 20_000)
  expect(await wrong()).toBe('rate_limited')
})
