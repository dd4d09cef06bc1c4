import { hash, randomFillSync } from 'node:crypto'
import { readUuid, uuidBytes, writeUuid } from './uuid.ts'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }
/** A text that is no id. */
export type PlainText = string & { readonly [brand]?: never }

// Internally an id is the text of a UUID, as PostgreSQL returns it. The brands prevent passing a contact's id where a
// message's id is expected. In the API it is written as `msg_01hx…` by `toText` and parsed by `parseId`.
export type OrganizationId = Branded<'org'>
export type UserId = Branded<'usr'>
export type ApiKeyId = Branded<'key'>
export type GroupId = Branded<'grp'>
export type ContactId = Branded<'con'>
export type FlowId = Branded<'flw'>
export type FlowVersionId = Branded<'flv'>
export type MessageId = Branded<'msg'>
export type EventId = Branded<'evt'>
export type WebhookId = Branded<'whk'>
export type DeliveryId = Branded<'dlv'>
export type ImportId = Branded<'imp'>
export type InvitationId = Branded<'inv'>
export type NoticeId = Branded<'ntc'>
export type SessionId = Branded<'ses'>
export type SegmentId = Branded<'seg'>
export type BulkActionId = Branded<'blk'>
export type BroadcastId = Branded<'brc'>
/** The content that the messages of an email have in common. */
export type EmailId = Branded<'eml'>
/** A stored file. Never shown. */
export type FileId = Branded<'fil'>
export type EventExportId = Branded<'exp'>
export type DomainId = Branded<'dom'>
export type MailServerId = Branded<'mse'>
export type ImageId = Branded<'img'>
export type FlowPartId = Branded<'prt'>

export type IdOf = {
  org: OrganizationId
  usr: UserId
  key: ApiKeyId
  grp: GroupId
  con: ContactId
  flw: FlowId
  flv: FlowVersionId
  msg: MessageId
  evt: EventId
  whk: WebhookId
  dlv: DeliveryId
  imp: ImportId
  inv: InvitationId
  ntc: NoticeId
  ses: SessionId
  seg: SegmentId
  blk: BulkActionId
  brc: BroadcastId
  eml: EmailId
  fil: FileId
  exp: EventExportId
  dom: DomainId
  mse: MailServerId
  img: ImageId
  prt: FlowPartId
}
export type Prefix = keyof IdOf

const poolBytes = 4096
const pool = new Uint8Array(poolBytes)
let poolAt = poolBytes
const made = new DataView(new ArrayBuffer(uuidBytes))
const madeBytes = new Uint8Array(made.buffer)
let lastMs = 0
let sequence = 0
/** Of the last call of `timeDigits`: the emails of a chunk have the same time. */
let lastTime = { ms: Number.NaN, digits: '' }

/**
 * Returns a UUIDv7 (RFC 9562): 48 bits of time, a 12-bit sequence within the millisecond, 62 random bits. The ids of
 * one process sort in the order of creation, even if the clock is set back; use `leastId` for the bound of a query by
 * time. Random bytes are drawn in blocks, which makes an id cheap.
 */
export function newId<P extends Prefix>(_prefix: P, nowMs = Date.now()): IdOf[P] {
  if (nowMs > lastMs) {
    lastMs = nowMs
    sequence = 0
  } else if (++sequence > 0xfff) {
    lastMs++
    sequence = 0
  }
  if (poolAt + 8 > poolBytes) {
    randomFillSync(pool)
    poolAt = 0
  }
  made.setUint16(0, lastMs / 2 ** 32)
  made.setUint32(2, lastMs)
  made.setUint16(6, 0x7000 | sequence)
  for (let index = 8; index < uuidBytes; index++) madeBytes[index] = pool[poolAt++]!
  madeBytes[8] = (madeBytes[8]! & 0x3f) | 0x80
  return readUuid(madeBytes, 0) as IdOf[P]
}

/** Returns the lower bound of ids created at or after this time, for queries by time. */
export const leastId = <P extends Prefix>(_prefix: P, ms: number): IdOf[P] =>
  `${timeDigits(ms)}-0000-0000-000000000000` as IdOf[P]

/** The zero UUID sorts before all others. */
export const leastUuid: string = leastId('org', 0)

/** Returns the same id for the same time (of an id, or in milliseconds) and parts. Such ids sort by the time. */
export function derivedId<P extends Prefix>(_prefix: P, time: string | number, ...parts: string[]): IdOf[P] {
  const digest = hash('sha256', parts.join(' '))
  const start = typeof time === 'string' ? time.slice(0, timeLength) : timeDigits(time)
  return `${start}-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}` as IdOf[P]
}

const timeLength = 13
function timeDigits(ms: number): string {
  if (ms === lastTime.ms) return lastTime.digits
  const digits = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  lastTime = { ms, digits: `${digits.slice(0, 8)}-${digits.slice(8)}` }
  return lastTime.digits
}

// Crockford's base32 alphabet in lower case: without i, l, o and u, and the text sorts like the number. 128 bits are 26
// digits of 5 bits, with two leading zero bits.
const alphabet = Buffer.from('0123456789abcdefghjkmnpqrstvwxyz')
const digitBits = 5
const paddingBits = 2
const noDigit = 255
const values = new Uint8Array(128).fill(noDigit)
for (const [value, digit] of alphabet.entries()) values[digit] = value
const textLength = 26
const digits = Buffer.alloc(textLength)
const idBytes = new Uint8Array(uuidBytes)

/** Returns the id as it appears in the API: the prefix (`msg_`) and 26 characters. */
export function toText<P extends Prefix>(prefix: P, id: IdOf[P]): string {
  if (!writeUuid(idBytes, 0, id)) throw new TypeError('The id is not a UUID')
  let buffered = 0
  let bits = paddingBits
  let at = 0
  for (const byte of idBytes) {
    buffered = (buffered << 8) | byte
    for (bits += 8; bits >= digitBits; bits -= digitBits)
      digits[at++] = alphabet[(buffered >> (bits - digitBits)) & 31]!
    buffered &= (1 << bits) - 1
  }
  return `${prefix}_${digits.toString('latin1')}`
}

/** Returns undefined if the text is not an id of this kind in the spelling of `toText`. Routes answer with 404. */
export function parseId<P extends Prefix>(prefix: P, text: string): IdOf[P] | undefined {
  const start = prefix.length + 1
  if (text.length !== start + textLength || !text.startsWith(prefix) || text[prefix.length] !== '_') return undefined
  let buffered = 0
  let bits = -paddingBits
  let at = 0
  for (let index = start; index < text.length; index++) {
    const value = values[text.charCodeAt(index)] ?? noDigit
    if (value === noDigit || (index === start && value > 7)) return undefined
    buffered = (buffered << digitBits) | value
    bits += digitBits
    if (bits < 8) continue
    bits -= 8
    idBytes[at++] = buffered >> bits
    buffered &= (1 << bits) - 1
  }
  return readUuid(idBytes, 0) as IdOf[P]
}

/** Returns the timestamp of a UUIDv7, in milliseconds. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
