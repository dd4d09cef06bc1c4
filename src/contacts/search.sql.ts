import { containsInAnyCase } from '../db/any-case.ts'
import { type Sql, sql } from '../db/sql.ts'
import { parseEmail } from '../email.ts'
import type { OrganizationId } from '../ids.ts'

/** A LIKE pattern for text that contains this. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

const wordsMax = 5
const addressesMax = 1_000
/** Behind every character in the order of a C collation. */
const lastCharacter = '\u{10ffff}'

/** A condition per word of what a person typed: each must be part of the address or of a name. */
export function matchesWords(organizationId: OrganizationId, query: string): Sql[] {
  return query
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, wordsMax)
    .map((word) => (word.indexOf('@') > 0 ? startsWith(organizationId, addressKey(word)) : contains(word)))
}

/** A whole address is kept with its domain in ASCII. */
function addressKey(word: string): string {
  const email = parseEmail(word)
  return email.ok ? email.key : word.toLowerCase()
}

/** Looks at every contact until the page is full: 4 million of them took some seconds, 100,000 a tenth of one. */
function contains(word: string): Sql {
  return sql`(contacts.email_key like ${containing(word.toLowerCase())}
    or ${containsInAnyCase(sql`contacts.first_name`, word)} or ${containsInAnyCase(sql`contacts.last_name`, word)})`
}

/** An address is typed from its beginning, and found by the index. As an array, so that the planner has no choice. */
function startsWith(organizationId: OrganizationId, text: string): Sql {
  return sql`contacts.id = any (array(
    select id from contacts as same
    where same.organization_id = ${organizationId} and same.email_key >= ${text}
      and same.email_key < ${text + lastCharacter}
    limit ${addressesMax}))`
}
