import type pg from 'pg'

/** Up to this number of rows, planning a statement costs more than running it. */
const rowsMax = 20
/**
 * A plan that was made while a table was empty reads the whole table, so it must not outlive the growth of the table by
 * much. PostgreSQL replaces it when it has analyzed the table, which takes a minute or more.
 */
const keptMs = 5_000

/** Returns whether the plans of statements about so many rows are kept. */
export const keepsPlans = (rows: number | undefined): boolean => rows !== undefined && rows <= rowsMax

const discardedAtMs = new WeakMap<pg.ClientBase, number>()

/** Returns what precedes `begin` on this connection: discards its plans if they are too old. */
export function discardOldPlans(client: pg.ClientBase): string {
  const now = performance.now()
  if (now - (discardedAtMs.get(client) ?? Number.NEGATIVE_INFINITY) < keptMs) return ''
  discardedAtMs.set(client, now)
  return 'discard plans; '
}
