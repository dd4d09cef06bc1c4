import { asciiDomain } from './domain.ts'
import { invalid } from './errors.ts'
import { isLongerThan } from './text.ts'

/** `address` is the spelling to display and send to. Two addresses are the same if their `key` is equal. */
export type ParsedEmail = { ok: true; address: string; key: string } | { ok: false; problem: string }

const addressMax = 254
const localMax = 64

// The unquoted local part of RFC 5321. Non-ASCII characters (RFC 6531) are excluded because few relays accept them.
const localPattern = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i

// Matches nearly every address and makes parsing about ten times as fast, since no IDN conversion is needed. Punycode
// (xn--) is left to the full parser, which validates it.
const plainPattern =
  /^([a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$/i

const rejected = (problem: string): ParsedEmail => ({ ok: false, problem })

/**
 * Parses an email address as people type it. It is trimmed and its domain converted to lower-case ASCII; the local part
 * is kept as given. Addresses that differ only in case have the same key.
 */
export function parseEmail(input: unknown): ParsedEmail {
  if (typeof input !== 'string') return rejected('must be a string')
  const text = input.trim()
  if (text === '') return rejected('must not be empty')
  if (isLongerThan(text, addressMax)) return rejected(`must have at most ${addressMax} characters`)
  const plain = plainPattern.exec(text)
  const key = plain ? text.toLowerCase() : ''
  if (plain && plain[1]!.length <= localMax && !key.includes('xn--'))
    return { ok: true, address: key === text ? text : `${plain[1]}@${plain[2]!.toLowerCase()}`, key }
  return parseAny(text)
}

function parseAny(text: string): ParsedEmail {
  const at = text.lastIndexOf('@')
  if (at < 1 || at === text.length - 1) return rejected('is not a valid email address')
  const local = text.slice(0, at)
  if (local.length > localMax) return rejected(`must have at most ${localMax} characters before the @`)
  const [foreign] = /[^\p{ASCII}\p{C}\s]/u.exec(local) ?? []
  if (foreign) return rejected(`contains "${foreign}" before the @, which most mail servers do not accept`)
  if (!localPattern.test(local)) return rejected('is invalid: check the part before the @')
  const domain = asciiDomain(text.slice(at + 1))
  if (domain === undefined) return rejected('is invalid: check the domain after the @')
  if (!domain.includes('.') && domain !== 'localhost') return rejected('is invalid: the domain must contain a dot')
  if (/(?:^|\.)\d+$/.test(domain)) return rejected('is invalid: the domain must not be an IP address')
  const address = `${local}@${domain}`
  return { ok: true, address, key: address.toLowerCase() }
}

/** An address, and the key by which it is compared. */
export type EmailAddress = { email: string; emailKey: string }

/** Parses an address from a request. Throws `Refusal` with the path of the field if it is invalid. */
export function parseEmailField(path: string, text: unknown): EmailAddress {
  const parsed = parseEmail(text)
  if (!parsed.ok) throw invalid({ path, problem: parsed.problem })
  return { email: parsed.address, emailKey: parsed.key }
}
