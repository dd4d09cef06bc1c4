import { containsInAnyCase } from '../../platform/db/any-case.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import { type OrganizationId, parseId } from '../../platform/values/ids.ts'
import { searchKey } from './search-key.ts'
import { addressKey, asciiDomain } from './stored-address.ts'

/** Returns a LIKE pattern for values that contain this text. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

const wordsMax = 5
const addressesMax = 1_000
/** Sorts after every other character in a C collation. */
const lastCharacter = '\u{10ffff}'

/**
 * Returns one condition per word of a search query: each word must be the id of the contact, or occur in the
 * address or, without regard to accents, in a name.
 */
export function matchesWords(organizationId: OrganizationId, query: string): Sql[] {
  return query
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, wordsMax)
    .map((word) => {
      const id = parseId('con', word.toLowerCase())
      if (id) return sql`contacts.id = ${id}`
      return word.indexOf('@') > 0 ? startsWith(organizationId, addressKey(word)) : contains(word)
    })
}

/** Scans the contacts until the page is full: 4 million take a few seconds, 100,000 a tenth of a second. */
function contains(word: string): Sql {
  const name = searchKey(word)
  return sql`(contacts.email_key like ${containing(asciiDomain(word))}
    or ${containsInAnyCase(sql`coalesce(contacts.first_name_key, contacts.first_name)`, name)}
    or ${containsInAnyCase(sql`coalesce(contacts.last_name_key, contacts.last_name)`, name)})`
}

/** Matches the start of the address through its index. The array keeps the planner from choosing another plan. */
const startsWith = (organizationId: OrganizationId, text: string) =>
  sql`contacts.id = any (array(
    select id from contacts as same
    where same.organization_id = ${organizationId} and same.email_key >= ${text}
      and same.email_key < ${text + lastCharacter}
    limit ${addressesMax}))`
