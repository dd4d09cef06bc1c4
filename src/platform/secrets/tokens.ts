import { hash, hkdfSync, timingSafeEqual } from 'node:crypto'
import { createCache } from '../runtime/cache.ts'
import type { ContactId, FlowId, MessageId, OrganizationId } from '../values/ids.ts'
import { uuidBytes as idBytes, readUuid, writeUuid } from '../values/uuid.ts'

// The links in an email carry signed tokens with everything that a hit needs, so that answering it requires no database
// query. An email is signed once: half of the signature is in its pixel and tracked links, the other half in its unsubscribe
// link, because readers pass links on. Links also have a token with the destination, which is the same in all emails of a
// flow. Each other purpose has its own key, so a token is valid for one purpose only.

export type MailIds = { organizationId: OrganizationId; messageId: MessageId; contactId: ContactId; flowId: FlowId }
export type AddressIds = { organizationId: OrganizationId; messageId: MessageId }

/** `query`: parameters that are added to the destination, and are not part of the link as it was written. */
export type ClickedLink = { url: string; query?: string | undefined }
/** Those whose emails may contain a link to a destination. */
type FlowIds = Pick<MailIds, 'organizationId' | 'flowId'>
type LinkPayload = MailIds & Partial<ClickedLink>

type PayloadOf = {
  /** The pixel and the tracked links of an email. */
  email: MailIds
  unsubscribe_link: MailIds
  /** Links of test emails, which record nothing. */
  test_email: MailIds
  test_unsubscribe_link: MailIds
  // Of emails that are out already, whose links have a token each.
  open: MailIds
  click: MailIds & ClickedLink
  unsubscribe: MailIds
  test_open: MailIds
  test_click: MailIds & ClickedLink
  test_unsubscribe: MailIds
  /** The envelope sender, to which bounces are returned. */
  bounce: AddressIds
  /** The `mailto:` of List-Unsubscribe. */
  unsubscribe_by_mail: AddressIds
}
export type TokenPurpose = keyof PayloadOf

export type EmailTokens = { links: string; unsubscribe: string }

export type Tokens = {
  /** Returns the token for a link, or the complete local part of an address. */
  sign<P extends TokenPurpose>(purpose: P, payload: PayloadOf[P]): string
  /** Returns undefined if the token was not signed for this purpose with one of the secrets. */
  verify<P extends TokenPurpose>(purpose: P, token: string): PayloadOf[P] | undefined
  /** Returns the tokens for the pixel and tracked links of an email, and for its unsubscribe link. */
  signEmail(ids: MailIds, isTest: boolean): EmailTokens
  /** Returns the token for the destination of a link in emails of the flow. */
  signDestination(flow: FlowIds, link: ClickedLink): string
  /** Returns undefined if the token was not signed for emails of the flow with one of the secrets. */
  verifyDestination(flow: FlowIds, token: string): ClickedLink | undefined
}

/** Links with a longer destination are not tracked. */
export const clickUrlBytesMax = 4_000

// Link tokens in base64url: key id, four ids, destination (variable length), MAC.
const keyIdBytes = 1
const linkIdsBytes = 4 * idBytes
const linkMacBytes = 16

// Address tokens in base32, since a local part is limited to 64 octets and its case may change in transit: two ids,
// MAC. With the prefix that is 63 characters, which leaves 48 bits for the MAC and none for a key id, so each key is
// tried. 48 bits are sufficient: an attacker must know both ids of a sent email and guess against a rate-limited
// listener, for one false bounce.
const addressIdsBytes = 2 * idBytes
const addressMacBytes = 6
const addressPrefixes: Partial<Record<TokenPurpose, string>> = { bounce: 'b-', unsubscribe_by_mail: 'u-' }

const textLengthOf = (bytes: number) => Math.ceil((bytes * 4) / 3)
/** The lengths of the tokens in links. */
export const emailTokenLength = textLengthOf(keyIdBytes + linkIdsBytes + linkMacBytes)
export const destinationTokenLengthOf = (url: string, query = ''): number =>
  textLengthOf(keyIdBytes + Buffer.byteLength(destinationText({ url, query })) + linkMacBytes)

/** Destinations whose tokens are remembered, in each direction: those of many emails are the same. */
const destinationsMax = 2_000

/** Their MAC is the second half of that of the email. */
const secondHalves = new Set<TokenPurpose>(['unsubscribe_link', 'test_unsubscribe_link'])

type Key = { id: number; byPurpose: Record<TokenPurpose, MacKey>; destination: MacKey }
/** A key of HMAC-SHA256, padded for the hash of the text and for the hash of that hash (RFC 2104). */
type MacKey = { inner: Buffer; outer: Buffer }

/** Signs with the current secret and verifies with the current and the previous ones. */
export function createTokens(secrets: { current: string; previous?: readonly string[] }): Tokens {
  const keys = [secrets.current, ...(secrets.previous ?? [])].map(deriveKey)
  const signed = createCache<string, string>(destinationsMax)
  const verified = createCache<string, ClickedLink>(destinationsMax)
  const tokens = {
    sign: (purpose: TokenPurpose, payload: MailIds | AddressIds): string =>
      addressPrefixes[purpose]
        ? signAddress(keys[0]!, purpose, payload)
        : signLink(keys[0]!, purpose, payload as LinkPayload),
    verify: (purpose: TokenPurpose, token: string): MailIds | AddressIds | undefined =>
      addressPrefixes[purpose] ? verifyAddress(keys, purpose, token) : verifyLink(keys, purpose, token),
    signEmail: (ids: MailIds, isTest: boolean) => signEmail(keys[0]!, isTest ? 'test_email' : 'email', ids),
    signDestination: (flow: FlowIds, link: ClickedLink): string =>
      remembered(signed, `${flow.organizationId} ${flow.flowId} ${destinationText(link)}`, () =>
        signDestination(keys[0]!, flow, link),
      )!,
    verifyDestination: (flow: FlowIds, token: string): ClickedLink | undefined =>
      remembered(verified, `${flow.organizationId} ${flow.flowId} ${token}`, () =>
        verifyDestination(keys, flow, token),
      ),
  }
  return tokens as Tokens
}

function deriveKey(secret: string): Key {
  const derive = (info: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `waxwing token v1 ${info}`, bytes))
  const keyFor = (purpose: string): MacKey => {
    const secretKey = Buffer.concat([derive(purpose, 32)], macBlockBytes)
    return {
      inner: secretKey.map((byte) => byte ^ 0x36) as Buffer,
      outer: secretKey.map((byte) => byte ^ 0x5c) as Buffer,
    }
  }
  return {
    id: derive('key id', keyIdBytes)[0]!,
    destination: keyFor('destination'),
    byPurpose: {
      email: keyFor('email'),
      unsubscribe_link: keyFor('email'),
      test_email: keyFor('test_email'),
      test_unsubscribe_link: keyFor('test_email'),
      open: keyFor('open'),
      click: keyFor('click'),
      unsubscribe: keyFor('unsubscribe'),
      test_open: keyFor('test_open'),
      test_click: keyFor('test_click'),
      test_unsubscribe: keyFor('test_unsubscribe'),
      bounce: keyFor('bounce'),
      unsubscribe_by_mail: keyFor('unsubscribe_by_mail'),
    },
  }
}

/**
 * Shared by all tokens, since allocating a buffer takes longer than writing a token. A destination that is too long is
 * cut within the room for the MAC.
 */
const scratch = Buffer.alloc(keyIdBytes + linkIdsBytes + clickUrlBytesMax + linkMacBytes)

const macBlockBytes = 64
const hashBytes = 32
const innerScratch = Buffer.alloc(macBlockBytes + scratch.length)
const outerScratch = Buffer.alloc(macBlockBytes + hashBytes)

/** Returns the MAC as a binary string. `createHmac` takes twice as long, because it creates objects that are collected. */
function macOf({ inner, outer }: MacKey, signed: Buffer): string {
  innerScratch.set(inner)
  innerScratch.set(signed, macBlockBytes)
  const innerHash = hash('sha256', innerScratch.subarray(0, macBlockBytes + signed.length), 'binary')
  outerScratch.set(outer)
  outerScratch.write(innerHash, macBlockBytes, 'latin1')
  return hash('sha256', outerScratch, 'binary')
}

/** Compares in constant time. A token contains only the start of its MAC. */
const isMac = (mac: Buffer, expected: string): boolean =>
  timingSafeEqual(Buffer.from(expected.slice(0, mac.length), 'latin1'), mac)

/** Encoded addresses contain no line breaks. */
const destinationText = ({ url, query }: ClickedLink) => (query ? `${url}\n${query}` : url)

function signLink(key: Key, purpose: TokenPurpose, payload: LinkPayload): string {
  const url = payload.url === undefined ? '' : destinationText(payload as ClickedLink)
  scratch[0] = key.id
  writeLinkIds(payload)
  const urlBytes = scratch.write(url, keyIdBytes + linkIdsBytes)
  if (urlBytes > clickUrlBytesMax) throw new RangeError('The destination is too long for a token')
  const end = keyIdBytes + linkIdsBytes + urlBytes
  return withMac(end, linkMacOf(key, purpose, scratch.subarray(0, end)))
}

const linkMacOf = (key: Key, purpose: TokenPurpose, signed: Buffer): string =>
  macOf(key.byPurpose[purpose], signed).slice(secondHalves.has(purpose) ? linkMacBytes : 0)

/** Returns the token of which the first bytes are in `scratch`. */
function withMac(end: number, mac: string): string {
  scratch.write(mac, end, linkMacBytes, 'latin1')
  return scratch.toString('base64url', 0, end + linkMacBytes)
}

function signEmail(key: Key, purpose: 'email' | 'test_email', ids: MailIds): EmailTokens {
  scratch[0] = key.id
  writeLinkIds(ids)
  const end = keyIdBytes + linkIdsBytes
  const mac = macOf(key.byPurpose[purpose], scratch.subarray(0, end))
  return { links: withMac(end, mac), unsubscribe: withMac(end, mac.slice(linkMacBytes)) }
}

function writeLinkIds(ids: MailIds): void {
  writeId(scratch, keyIdBytes, ids.organizationId)
  writeId(scratch, keyIdBytes + idBytes, ids.messageId)
  writeId(scratch, keyIdBytes + 2 * idBytes, ids.contactId)
  writeId(scratch, keyIdBytes + 3 * idBytes, ids.flowId)
}

/**
 * Returns undefined if a destination between as many other bytes would be too long. Several texts decode to the same
 * bytes; only the canonical one is valid.
 */
function decoded(token: string, otherBytes: number): Buffer | undefined {
  if (token.length > textLengthOf(otherBytes + clickUrlBytesMax)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  return bytes.length < otherBytes || bytes.toString('base64url') !== token ? undefined : bytes
}

function verifyLink(keys: readonly Key[], purpose: TokenPurpose, token: string): LinkPayload | undefined {
  const bytes = decoded(token, keyIdBytes + linkIdsBytes + linkMacBytes)
  if (!bytes) return undefined
  const end = bytes.length - linkMacBytes
  const signed = bytes.subarray(0, end)
  const isGenuine = (key: Key) => key.id === bytes[0] && isMac(bytes.subarray(end), linkMacOf(key, purpose, signed))
  if (!keys.some(isGenuine)) return undefined
  return {
    organizationId: readUuid(bytes, keyIdBytes) as OrganizationId,
    messageId: readUuid(bytes, keyIdBytes + idBytes) as MessageId,
    contactId: readUuid(bytes, keyIdBytes + 2 * idBytes) as ContactId,
    flowId: readUuid(bytes, keyIdBytes + 3 * idBytes) as FlowId,
    ...((purpose === 'click' || purpose === 'test_click') &&
      clickedLink(bytes.toString('utf8', keyIdBytes + linkIdsBytes, end))),
  }
}

function clickedLink(text: string): ClickedLink {
  const lineEnd = text.indexOf('\n')
  return lineEnd === -1 ? { url: text } : { url: text.slice(0, lineEnd), query: text.slice(lineEnd + 1) }
}

function remembered<Result>(
  cache: { get(key: string): Result | undefined; set(key: string, result: Result): unknown },
  key: string,
  compute: () => Result | undefined,
): Result | undefined {
  const known = cache.get(key)
  if (known !== undefined) return known
  const result = compute()
  if (result !== undefined) cache.set(key, result)
  return result
}

/** The flow is signed as well, but it is not part of the token: it is in that of the email. */
function destinationMac(key: Key, { organizationId, flowId }: FlowIds, destination: Buffer): string {
  const ids = Buffer.alloc(2 * idBytes)
  writeId(ids, 0, organizationId)
  writeId(ids, idBytes, flowId)
  return macOf(key.destination, Buffer.concat([ids, destination]))
}

function signDestination(key: Key, flow: FlowIds, link: ClickedLink): string {
  const destination = Buffer.from(destinationText(link))
  if (destination.length > clickUrlBytesMax) throw new RangeError('The destination is too long for a token')
  const mac = Buffer.from(destinationMac(key, flow, destination), 'latin1').subarray(0, linkMacBytes)
  return Buffer.concat([Buffer.of(key.id), destination, mac]).toString('base64url')
}

function verifyDestination(keys: readonly Key[], flow: FlowIds, token: string): ClickedLink | undefined {
  const bytes = decoded(token, keyIdBytes + linkMacBytes)
  if (!bytes) return undefined
  const end = bytes.length - linkMacBytes
  const destination = bytes.subarray(keyIdBytes, end)
  const isGenuine = (key: Key) =>
    key.id === bytes[0] && isMac(bytes.subarray(end), destinationMac(key, flow, destination))
  return keys.some(isGenuine) ? clickedLink(destination.toString()) : undefined
}

function signAddress(key: Key, purpose: TokenPurpose, payload: AddressIds): string {
  const bytes = Buffer.allocUnsafe(addressIdsBytes + addressMacBytes)
  writeId(bytes, 0, payload.organizationId)
  writeId(bytes, idBytes, payload.messageId)
  const mac = macOf(key.byPurpose[purpose], bytes.subarray(0, addressIdsBytes))
  bytes.write(mac, addressIdsBytes, addressMacBytes, 'latin1')
  return `${addressPrefixes[purpose]}${toBase32(bytes)}`
}

function verifyAddress(keys: readonly Key[], purpose: TokenPurpose, localPart: string): AddressIds | undefined {
  const token = localPart.toLowerCase()
  const prefix = addressPrefixes[purpose]!
  const bytes = token.startsWith(prefix)
    ? fromBase32(token.slice(prefix.length), addressIdsBytes + addressMacBytes)
    : undefined
  if (!bytes) return undefined
  const signed = bytes.subarray(0, addressIdsBytes)
  const mac = bytes.subarray(addressIdsBytes)
  if (!keys.some((key) => isMac(mac, macOf(key.byPurpose[purpose], signed)))) return undefined
  return { organizationId: readUuid(bytes, 0) as OrganizationId, messageId: readUuid(bytes, idBytes) as MessageId }
}

function writeId(bytes: Buffer, offset: number, id: string): void {
  if (!writeUuid(bytes, offset, id)) throw new TypeError('An id in a token is not a UUID')
}

const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

function toBase32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let buffered = 0
  for (const byte of bytes) {
    buffered = ((buffered << 8) | byte) & 0xfff
    bits += 8
    for (; bits >= 5; bits -= 5) text += base32[(buffered >> (bits - 5)) & 31]!
  }
  // Four bits of the 38 bytes are left.
  return text + base32[(buffered << (5 - bits)) & 31]!
}

/** Returns undefined if the text is not the output of `toBase32` for this many bytes. */
function fromBase32(text: string, length: number): Buffer | undefined {
  if (text.length !== Math.ceil((length * 8) / 5)) return undefined
  const bytes = Buffer.alloc(length)
  let bits = 0
  let buffered = 0
  let at = 0
  for (const character of text) {
    const digit = base32.indexOf(character)
    if (digit === -1) return undefined
    buffered = ((buffered << 5) | digit) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = (buffered >> bits) & 255
    }
  }
  return toBase32(bytes) === text ? bytes : undefined
}
