export type Progress = {
  /** `rows` is an estimate of all rows. */
  begin(rows: number): void
  advance(table: string, rows: number): void
}

const reportEveryMs = 2_000

/** Reports to the operator at most every two seconds, so that short commands print nothing. */
export function reportProgress(verb: string, write: (line: string) => void, now = Date.now): Progress {
  let total = 0
  let done = 0
  let reportedAt = now()
  return {
    begin: (rows) => {
      total = rows
    },
    advance: (table, rows) => {
      done += rows
      if (now() - reportedAt < reportEveryMs) return
      reportedAt = now()
      const share = total > 0 ? `${Math.min(99, Math.floor((100 * done) / total))} %, ` : ''
      write(`${verb}: ${share}${done.toLocaleString('en')} rows, now ${table}`)
    },
  }
}

export const noProgress: Progress = { begin: () => {}, advance: () => {} }
