import { randomFillSync } from 'node:crypto'
import { readUuid, uuidBytes } from './uuid.ts'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

// Inside the service an id is the UUID text that PostgreSQL speaks; the brand keeps a contact's id out of a
// message's place. At the edge it is written `msg_01hx…` by `toText` and read by `parseId`.
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

type IdOf = {
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
}
export type Prefix = keyof IdOf

const poolBytes = 4096
const pool = new Uint8Array(poolBytes)
let poolAt = poolBytes
const made = new DataView(new ArrayBuffer(uuidBytes))
const madeBytes = new Uint8Array(made.buffer)
let lastMs = 0
let sequence = 0

/**
 * A UUIDv7 (RFC 9562): 48 bits of time, a 12-bit sequence within the millisecond, 62 random bits. Ids made by one
 * process sort in the order in which they were made; randomness is drawn in blocks, which makes it cheap per id.
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

// Crockford's alphabet in lower case: no i, l, o or u, and the text sorts as the number does.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const textLength = 26
const textPattern = new RegExp(`^[0-7][${alphabet}]{${textLength - 1}}$`)

/** The id as people and programs outside see it: `msg_` and 26 characters. */
export function toText<P extends Prefix>(prefix: P, id: IdOf[P]): string {
  // 128 bits are 26 digits of 5 bits: two bits of nothing, and then as many of each hex digit as there is room for.
  let text = `${prefix}_`
  let held = 0
  let bits = 2
  for (let index = 0; index < id.length; index++) {
    const code = id.charCodeAt(index)
    if (code === dash) continue
    held = (held << 4) | (code <= digitNine ? code - digitZero : code - letterA + 10)
    bits += 4
    if (bits < 5) continue
    bits -= 5
    text += alphabet[held >> bits]!
    held &= (1 << bits) - 1
  }
  return text
}

const dash = 45
const digitZero = 48
const digitNine = 57
const letterA = 97

/** Undefined for whatever `toText` did not write: then there is no such thing, and the answer is a 404. */
export function parseId<P extends Prefix>(prefix: P, text: string): IdOf[P] | undefined {
  if (!text.startsWith(`${prefix}_`)) return undefined
  const digits = text.slice(prefix.length + 1)
  if (!textPattern.test(digits)) return undefined
  let id = ''
  for (let end = textLength; end > 0; end -= 4) {
    let chunk = 0
    for (const digit of digits.slice(Math.max(0, end - 4), end)) chunk = chunk * 32 + alphabet.indexOf(digit)
    id = chunk.toString(16).padStart(5, '0') + id
  }
  const h = id.slice(-32)
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20)}` as IdOf[P]
}
