import { type Sql, sql } from './sql.ts'

// In a database with locale C, such as the embedded one, PostgreSQL's lower() folds only ASCII. Other letters are
// folded here with translate(), limited to those in the search text.

/** A condition that the text contains `wanted`, ignoring case. */
export function containsInAnyCase(text: Sql, wanted: string): Sql {
  const fold = foldLettersOf(wanted)
  return sql`strpos(${fold(text)}, ${fold(sql`${wanted}`)}) > 0`
}

/** A condition that the text equals `wanted`, ignoring case. */
export function equalsInAnyCase(text: Sql, wanted: string): Sql {
  const fold = foldLettersOf(wanted)
  return sql`${fold(text)} = ${fold(sql`${wanted}`)}`
}

/** A condition that the text starts with `wanted`, ignoring case. */
export function startsWithInAnyCase(text: Sql, wanted: string): Sql {
  const fold = foldLettersOf(wanted)
  return sql`starts_with(${fold(text)}, ${fold(sql`${wanted}`)})`
}

/** A condition that the text ends with `wanted`, ignoring case. */
export function endsWithInAnyCase(text: Sql, wanted: string): Sql {
  const fold = foldLettersOf(wanted)
  return sql`right(${fold(text)}, ${[...wanted].length}) = ${fold(sql`${wanted}`)}`
}

/**
 * A condition that no other row of the organization has this name, ignoring case. In a database with the C locale, the
 * unique index on lower(name) only folds the case of ASCII letters. It still decides between concurrent requests.
 */
export const nameIsFree = (
  table: Sql,
  row: { organizationId: string; id: string },
  name: string,
): Sql => sql`not exists (
  select from ${table} as other
  where other.organization_id = ${row.organizationId} and other.id <> ${row.id}
    and ${equalsInAnyCase(sql`other.name`, name)})`

function foldLettersOf(wanted: string): (text: Sql) => Sql {
  let from = ''
  let to = ''
  for (const letter of new Set(wanted)) {
    const upper = letter.toUpperCase()
    const lower = upper.toLowerCase()
    // Letters that fold to several letters, such as ß, match only themselves.
    if (letter <= '\x7f' || upper === lower || isLong(upper) || isLong(lower)) continue
    from += upper + letter
    to += lower + lower
  }
  return from === '' ? (text) => sql`lower(${text})` : (text) => sql`lower(translate(${text}, ${from}, ${to}))`
}

const isLong = (letters: string) => [...letters].length > 1
