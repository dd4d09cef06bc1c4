import { type Sql, sql } from './sql.ts'

// PostgreSQL's lower() folds only ASCII in a database of locale C, as the embedded one is. The letters beyond that are
// folded here, but only those of the text that is looked for: no others matter.

/** That the text contains what is looked for, in upper or lower case. */
export function containsInAnyCase(text: Sql, wanted: string): Sql {
  const fold = foldLettersOf(wanted)
  return sql`strpos(${fold(text)}, ${fold(sql`${wanted}`)}) > 0`
}

/** That the text is what is looked for, in upper or lower case. */
export function equalsInAnyCase(text: Sql, wanted: string): Sql {
  const fold = foldLettersOf(wanted)
  return sql`${fold(text)} = ${fold(sql`${wanted}`)}`
}

function foldLettersOf(wanted: string): (text: Sql) => Sql {
  let from = ''
  let to = ''
  for (const letter of new Set(wanted)) {
    const upper = letter.toUpperCase()
    const lower = upper.toLowerCase()
    // Those that become several letters, as ß does, are only ever themselves.
    if (letter <= '\x7f' || upper === lower || isLong(upper) || isLong(lower)) continue
    from += upper + letter
    to += lower + lower
  }
  return from === '' ? (text) => sql`lower(${text})` : (text) => sql`lower(translate(${text}, ${from}, ${to}))`
}

const isLong = (letters: string) => [...letters].length > 1
