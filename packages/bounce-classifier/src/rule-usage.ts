/** An entry of a table of rules: a phrase or a pattern. */
export type RuleEntry = string | RegExp

type Observation = { disabled: ReadonlySet<RuleEntry>; matched: Set<RuleEntry> | null }

const everyRule: Observation = { disabled: new Set(), matched: null }
let current = everyRule

/**
 * Runs `classify` without the entries in `disabled` and returns its result. If `matched` is given, every enabled entry that
 * matches is added to it, including entries after the first match of a table.
 *
 * For the evaluation only: calls must not overlap.
 */
export async function observeRules<Result>(
  observation: { disabled?: ReadonlySet<RuleEntry>; matched?: Set<RuleEntry> },
  classify: () => Promise<Result>,
): Promise<Result> {
  current = { disabled: observation.disabled ?? everyRule.disabled, matched: observation.matched ?? null }
  try {
    return await classify()
  } finally {
    current = everyRule
  }
}

/** Returns the first enabled entry that matches. */
export function findEntry<Entry extends RuleEntry>(
  entries: readonly Entry[],
  matches: (entry: Entry) => boolean,
): Entry | undefined {
  const { disabled, matched } = current
  if (!matched) return entries.find((entry) => !disabled.has(entry) && matches(entry))
  const found = entries.filter((entry) => !disabled.has(entry) && matches(entry))
  for (const entry of found) matched.add(entry)
  return found[0]
}

/** Returns true if the evaluation records matches, so that a search must not stop at the first table that matches. */
export const isRecording = () => current.matched !== null

/** Returns true if an enabled pattern matches the text. */
export const anyPattern = (patterns: readonly RegExp[], text: string) =>
  findEntry(patterns, (pattern) => pattern.test(text)) !== undefined
