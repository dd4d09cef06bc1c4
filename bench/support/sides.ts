import { AsyncLocalStorage } from 'node:async_hooks'

/** One of the programs that are compared with each other. */
export type Side = { program: string; takeTurn: <Result>(work: () => Promise<Result>) => Promise<Result> }

const sides = new AsyncLocalStorage<Side>()

/** Undefined if only one program is measured. */
export const currentSide = (): Side | undefined => sides.getStore()

/** Runs a bench with each program at the same time. Their rounds alternate, so that both have the same noise. */
export function withEach<Result>(programs: readonly string[], bench: () => Promise<Result>): Promise<Result[]> {
  let turn = 0
  const waiting = new Map<number, () => void>()
  return Promise.all(
    programs.map((program, side) => {
      const takeTurn: Side['takeTurn'] = async (work) => {
        if (turn !== side) await new Promise<void>((resolve) => waiting.set(side, resolve))
        try {
          return await work()
        } finally {
          turn = (side + 1) % programs.length
          waiting.get(turn)?.()
          waiting.delete(turn)
        }
      }
      return sides.run({ program, takeTurn }, bench)
    }),
  )
}
