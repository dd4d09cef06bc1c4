import { type Sql, sql } from '../db/sql.ts'

/** A LIKE pattern for text that contains this. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

const wordsMax = 5

/** A condition per word of what a person typed: each must be part of the address or of a name. */
export function matchesWords(query: string): Sql[] {
  return query
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, wordsMax)
    .map((word) => {
      const names = spellings(word).map(containing)
      return sql`(contacts.email_key like ${containing(word.toLowerCase())}
        or contacts.first_name ilike any (${names}::text[]) or contacts.last_name ilike any (${names}::text[]))`
    })
}

/** PostgreSQL's ILIKE folds only ASCII in a database of locale C; the other letters are spelled out. */
function spellings(word: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it means the whole of ASCII
  if (/^[\x00-\x7f]*$/.test(word)) return [word]
  const lower = word.toLowerCase()
  return [...new Set([word, lower, word.toUpperCase(), lower.charAt(0).toUpperCase() + lower.slice(1)])]
}
