/** JSON that is costly to parse for its length. */
export const distinctNames = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`.padEnd(6, 'x'), 1])))

/** Counts turns of the event loop until it is disposed. */
export function countTurns(): { readonly turn: number } & Disposable {
  let turn = 0
  let isCounting = true
  const count = () => {
    turn++
    if (isCounting) setImmediate(count)
  }
  setImmediate(count)
  const stop = () => {
    isCounting = false
  }
  return {
    get turn() {
      return turn
    },
    [Symbol.dispose]: stop,
  }
}
