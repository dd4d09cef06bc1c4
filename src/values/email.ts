import { domainLabels } from './domain.ts'
import { isLongerThan } from './text.ts'

/** `address` is the spelling to show and to send to; `key` is what makes an address one and the same. */
export type ParsedEmail = { ok: true; address: string; key: string } | { ok: false; problem: string }

const addressMax = 254
const localMax = 64

// The unquoted local part of RFC 5321. Letters outside ASCII (RFC 6531) go through hardly any relay.
const localPattern = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i

// What nearly every address looks like. It needs no look-up of scripts and domains, and reading ten thousand takes a
// tenth of the time. Punycode (xn--) is left to the full reading, which checks it.
const plainPattern =
  /^([a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*)@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})$/i

const no = (problem: string): ParsedEmail => ({ ok: false, problem })

/**
 * Reads an email address as people type it: trimmed, the domain in lower case and in its ASCII form, the local part as
 * given. Addresses are the same when they differ only in case.
 */
export function parseEmail(input: unknown): ParsedEmail {
  if (typeof input !== 'string') return no('must be a string')
  const text = input.trim()
  if (text === '') return no('must not be empty')
  if (isLongerThan(text, addressMax)) return no(`must have at most ${addressMax} characters`)
  const plain = plainPattern.exec(text)
  const key = plain ? text.toLowerCase() : ''
  if (plain && plain[1]!.length <= localMax && !key.includes('xn--'))
    return { ok: true, address: key === text ? text : `${plain[1]}@${plain[2]!.toLowerCase()}`, key }
  return parseAny(text)
}

function parseAny(text: string): ParsedEmail {
  const at = text.lastIndexOf('@')
  if (at < 1 || at === text.length - 1) return no('is not an email address')
  const local = text.slice(0, at)
  if (local.length > localMax || !localPattern.test(local))
    return no('is not an email address that mail can go to: check what stands before the @')
  const labels = domainLabels(text.slice(at + 1))
  if (!labels) return no('is not an email address: check what stands behind the @')
  const domain = labels.join('.')
  if (labels.length < 2 && domain !== 'localhost') return no('is not an email address: the domain needs a dot')
  if (/^\d+$/.test(labels.at(-1)!)) return no('is not an email address: the domain must be a name')
  const address = `${local}@${domain}`
  return { ok: true, address, key: address.toLowerCase() }
}
