import { isQueryCanceled } from './db.ts'

const firstSize = 1_000
const sizeMin = 20
const sizeMax = 50_000
/** The size is adapted until a slice takes about this long. */
const sliceMs = 300
const growthMax = 4
/** After a timeout, the next try works on this fraction of the rows. */
const timeoutFactor = 1 / 8
const triesMin = 3

export const stopped = Symbol('stopped')

export type SliceOptions<Position> = {
  from: Position
  /**
   * Works on about `size` rows after the position. Returns the position after them, undefined at the end, or `stopped` if
   * it did nothing and no further slice is to be started.
   */
  run: (after: Position, size: number) => Promise<Position | undefined | typeof stopped>
  /** Called after each slice. If it returns true, no further slice is started. */
  isOver: () => boolean
}

/** `too_expensive`: even small slices of the work take too long. */
export type SlicesEnd = 'complete' | 'stopped' | 'too_expensive'

/**
 * Runs slices one after another, with sizes such that each takes a fraction of a second. A slice that reaches the
 * statement timeout is repeated with fewer rows, until a small one takes too long several times.
 */
export async function runSlices<Position>({ from, run, isOver }: SliceOptions<Position>): Promise<SlicesEnd> {
  let position = from
  let size = firstSize
  let timeouts = 0
  do {
    const startedAt = performance.now()
    try {
      const next = await run(position, size)
      if (next === undefined) return 'complete'
      if (next === stopped) return 'stopped'
      position = next
      timeouts = 0
      size = bounded(size * Math.min(growthMax, sliceMs / Math.max(1, performance.now() - startedAt)))
    } catch (error) {
      if (!isTimeout(error)) throw error
      if (++timeouts >= triesMin && size === sizeMin) return 'too_expensive'
      size = bounded(size * timeoutFactor)
    }
  } while (!isOver())
  return 'stopped'
}

/** A bounded read rejects a request that takes too long, with the timeout as the cause. */
const isTimeout = (error: unknown) => isQueryCanceled(error) || isQueryCanceled((error as Error).cause)

const bounded = (size: number): number => Math.min(sizeMax, Math.max(sizeMin, Math.round(size)))
