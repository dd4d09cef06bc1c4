import { expect, test } from 'vitest'
import { newId, type OrganizationId } from '../values/ids.ts'
import { InFlightLimit, type SlowPlace } from './in-flight-limit.ts'

const organization = () => newId('org') as OrganizationId
const later = () => performance.now() + 15_000

/** Places of organizations of which those in `slow` have slow peers. */
function placesFor(slow: ReadonlySet<OrganizationId>) {
  const limit = new InFlightLimit({
    inFlightMax: 100,
    perOrganizationMax: (id) => (slow.has(id) ? 25 : 100),
    slowPeers: { has: (id) => slow.has(id), max: 50 },
  })
  const takeAll = (id: OrganizationId) => {
    const taken: (SlowPlace | undefined)[] = []
    while (limit.free > 0 && limit.hasCapacityFor(id)) taken.push(limit.acquire(id))
    return taken
  }
  return { limit, takeAll }
}

test('organizations with slow peers use half of the limit, and leave some of these to those with few jobs', () => {
  const slow = [organization(), organization(), organization(), organization()]
  const { limit, takeAll } = placesFor(new Set(slow))
  expect(slow.map((id) => takeAll(id).length)).toEqual([25, 15, 2, 2])
  expect(takeAll(organization())).toHaveLength(56)
  expect(limit.free).toBe(0)
})

test('a job whose peer is silent uses no place, but counts for its organization', () => {
  const [silent, other] = [organization(), organization()]
  const { limit, takeAll } = placesFor(new Set([silent, other]))
  const taken = takeAll(silent)
  limit.freeSilent()
  expect(limit.free).toBe(75)
  limit.answered(taken[0])
  limit.freeSilent(later())
  expect([limit.free, limit.inFlight]).toEqual([99, 25])
  expect(limit.hasCapacityFor(silent)).toBe(false)
  expect(takeAll(other)).toHaveLength(25)
  for (const place of taken) limit.release(silent, place)
  expect(limit.inFlight).toBe(25)
  expect(takeAll(silent)).toHaveLength(15)
})

test('an organization with silent jobs gets fewer limit', () => {
  const silent = organization()
  const { limit, takeAll } = placesFor(new Set([silent]))
  for (let job = 0; job < 4; job++) limit.acquire(silent)
  limit.freeSilent(later())
  expect(takeAll(silent)).toHaveLength(5)
})

test('there are at most as many silent jobs as limit', () => {
  const slow = new Set(Array.from({ length: 40 }, organization))
  const { limit, takeAll } = placesFor(slow)
  for (let round = 0; round < 5; round++) {
    for (const id of slow) takeAll(id)
    limit.freeSilent(later())
  }
  expect(limit.inFlight).toBeLessThanOrEqual(150)
  expect(limit.free).toBeGreaterThanOrEqual(50)
})
