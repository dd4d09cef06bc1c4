import { createHash } from 'node:crypto'

/** Reproducible random choices. */
export type Seeded = {
  seed: number
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** A whole number, both ends included. */
  int(min: number, max: number): number
  pick<T>(choices: readonly T[]): T
  chance(probability: number): boolean
  bytes(length: number): Buffer
  /** Returns a copy in another order. */
  shuffled<T>(items: readonly T[]): T[]
  /** Returns an independent generator, so that different parts do not affect each other's choices. */
  fork(): Seeded
}

/** The mulberry32 generator: small, fast, and sufficient to choose test inputs. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    seed,
    next,
    int,
    pick: (choices) => choices[int(0, choices.length - 1)]!,
    chance: (probability) => next() < probability,
    bytes: (length) =>
      createHash('shake256', { outputLength: length })
        .update(String(int(0, 0xffffffff)))
        .digest(),
    shuffled: (items) => {
      const left = [...items]
      return Array.from({ length: left.length }, () => left.splice(int(0, left.length - 1), 1)[0]!)
    },
    fork: () => seeded(int(0, 0xffffffff)),
  }
}

/** Of runs that ask for no other, so that a test that passes for one passes for all. */
const defaultSeed = 1

/** Returns the number in TEST_SEED, a new one if that is `random`, and otherwise the same for everybody. */
export function seedOfRun(asked = process.env.TEST_SEED): number {
  if (asked === 'random') return Math.floor(Math.random() * 0x7fffffff)
  const seed = asked ? Number(asked) : defaultSeed
  if (!Number.isSafeInteger(seed)) throw new Error(`TEST_SEED must be a whole number or "random", not "${asked}".`)
  return seed
}

/** Uses the seed of the run and prints it. The same seed repeats the choices. */
export function announcedSeed(what: string): Seeded {
  const seed = seedOfRun()
  console.info(`${what}: seed ${seed}`)
  return seeded(seed)
}

/** The requested duration of a long run in minutes, or undefined for the short run of `npm test`. */
export const askedMinutes = process.env.TEST_MINUTES ? Number(process.env.TEST_MINUTES) : undefined
