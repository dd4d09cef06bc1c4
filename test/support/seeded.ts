/** Random choices that a seed repeats. */
export type Seeded = {
  seed: number
  /** From 0 up to but not including 1. */
  next(): number
  /** A whole number, both ends included. */
  int(min: number, max: number): number
  pick<T>(choices: readonly T[]): T
  chance(probability: number): boolean
  /** A generator of its own, so that what one part draws does not change what another part draws. */
  fork(): Seeded
}

/** The generator mulberry32: small, fast, and good enough to choose test inputs. */
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
    fork: () => seeded(int(0, 0xffffffff)),
  }
}

/** The seed that was asked for, or a new one. Prints it: the same seed repeats the run. */
export function announcedSeed(what: string, asked = process.env.TEST_SEED): Seeded {
  const seed = asked ? Number(asked) : Math.floor(Math.random() * 0xffffffff)
  console.info(`${what}: seed ${seed}`)
  return seeded(seed)
}

/** Minutes that a long run was asked for; undefined for the short form in `npm test`. */
export const askedMinutes = process.env.TEST_MINUTES ? Number(process.env.TEST_MINUTES) : undefined
