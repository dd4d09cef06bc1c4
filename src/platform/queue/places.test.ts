import { expect, test } from 'vitest'
import { newId, type OrganizationId } from '../values/ids.ts'
import { Places, type SlowPlace } from './places.ts'

const organization = () => newId('org') as OrganizationId
const later = () => performance.now() + 15_000

/** Places of organizations of which those in `slow` have slow peers. */
function placesFor(slow: ReadonlySet<OrganizationId>) {
  const places = new Places({
    inFlightMax: 100,
    perOrganizationMax: (id) => (slow.has(id) ? 25 : 100),
    slowPeers: { has: (id) => slow.has(id), max: 50 },
  })
  const takeAll = (id: OrganizationId) => {
    const taken: (SlowPlace | undefined)[] = []
    while (places.free > 0 && places.hasOneFor(id)) taken.push(places.take(id))
    return taken
  }
  return { places, takeAll }
}

test('organizations with slow peers use half of the places, and leave some of these to those with few jobs', () => {
  const slow = [organization(), organization(), organization(), organization()]
  const { places, takeAll } = placesFor(new Set(slow))
  expect(slow.map((id) => takeAll(id).length)).toEqual([25, 15, 2, 2])
  expect(takeAll(organization())).toHaveLength(56)
  expect(places.free).toBe(0)
})

test('a job whose peer is silent uses no place, but counts for its organization', () => {
  const [silent, other] = [organization(), organization()]
  const { places, takeAll } = placesFor(new Set([silent, other]))
  const taken = takeAll(silent)
  places.freeSilent()
  expect(places.free).toBe(75)
  places.answered(taken[0])
  places.freeSilent(later())
  expect([places.free, places.inFlight]).toEqual([99, 25])
  expect(places.hasOneFor(silent)).toBe(false)
  expect(takeAll(other)).toHaveLength(25)
  for (const place of taken) places.giveBack(silent, place)
  expect(places.inFlight).toBe(25)
  expect(takeAll(silent)).toHaveLength(15)
})

test('an organization with silent jobs gets fewer places', () => {
  const silent = organization()
  const { places, takeAll } = placesFor(new Set([silent]))
  for (let job = 0; job < 4; job++) places.take(silent)
  places.freeSilent(later())
  expect(takeAll(silent)).toHaveLength(5)
})

test('there are at most as many silent jobs as places', () => {
  const slow = new Set(Array.from({ length: 40 }, organization))
  const { places, takeAll } = placesFor(slow)
  for (let round = 0; round < 5; round++) {
    for (const id of slow) takeAll(id)
    places.freeSilent(later())
  }
  expect(places.inFlight).toBeLessThanOrEqual(150)
  expect(places.free).toBeGreaterThanOrEqual(50)
})
