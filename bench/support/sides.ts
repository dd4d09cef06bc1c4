import { AsyncLocalStorage } from 'node:async_hooks'

/** One of the programs that are compared with each other. */
export type Side = { program: string; takeTurn: <Result>(work: () => Promise<Result>) => Promise<Result> }

const sides = new AsyncLocalStorage<Side>()

/** Undefined if only one program is measured. */
export const currentSide = (): Side | undefined => sides.getStore()

/**
 * Runs a bench with both programs at the same time, their rounds in turn. Each goes first in every second pair, because the
 * machine gets faster or slower for many rounds.
 */
export function withEach<Result>(programs: readonly [string, string], bench: () => Promise<Result>): Promise<Result[]> {
  let round = 0
  const isNext = (side: number) => side === [0, 1, 1, 0][round % 4]
  const waiting = new Map<number, () => void>()
  return Promise.all(
    programs.map((program, side) => {
      const takeTurn: Side['takeTurn'] = async (work) => {
        if (!isNext(side)) await new Promise<void>((resolve) => waiting.set(side, resolve))
        try {
          return await work()
        } finally {
          round++
          for (const [waitingSide, begin] of waiting)
            if (isNext(waitingSide)) {
              waiting.delete(waitingSide)
              begin()
            }
        }
      }
      return sides.run({ program, takeTurn }, bench)
    }),
  )
}
