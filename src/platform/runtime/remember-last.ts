/**
 * Returns a function that computes a result again only if its arguments differ from those of the last call. For values that
 * are the same for many emails in a row. Errors are not remembered.
 */
export function rememberLast<Args extends readonly (string | number | null)[], Result>(
  compute: (...args: Args) => Result,
): (...args: Args) => Result {
  let last: { args: Args; result: Result } | undefined
  return (...args) => {
    if (last && args.every((arg, index) => arg === last!.args[index])) return last.result
    const result = compute(...args)
    last = { args, result }
    return result
  }
}
