import { domainToASCII } from 'node:url'
import { containsInAnyCase } from '../db/any-case.ts'
import { type Sql, sql } from '../db/sql.ts'
import { parseEmail } from '../values/email.ts'
import type { OrganizationId } from '../values/ids.ts'

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

/** Addresses are stored with their domain in ASCII. */
function addressKey(word: string): string {
  const email = parseEmail(word)
  if (email.ok) return email.key
  const at = word.lastIndexOf('@')
  return word.slice(0, at + 1).toLowerCase() + asciiDomain(word.slice(at + 1))
}

/** Part of a domain as it is stored. The labels must be complete to be found; text that cannot be a domain is returned as it is. */
function asciiDomain(text: string): string {
  const isAscii = /^[\0-\x7f]*$/.test(text)
  return (!isAscii && domainToASCII(text)) || text.toLowerCase()
}

/** Looks at every contact until the page is full: 4 million of them took some seconds, 100,000 a tenth of one. */
function contains(word: string): Sql {
  return sql`(contacts.email_key like ${containing(asciiDomain(word))}
    or ${containsInAnyCase(sql`contacts.first_name`, word)}
    or ${containsInAnyCase(sql`contacts.last_name`, word)})`
}

/** An address is typed from its beginning, and found by the index. As an array, so that the planner has no choice. */
function startsWith(organizationId: OrganizationId, text: string): Sql {
  return sql`contacts.id = any (array(
    select id from contacts as same
    where same.organization_id = ${organizationId} and same.email_key >= ${text}
      and same.email_key < ${text + lastCharacter}
    limit ${addressesMax}))`
}
