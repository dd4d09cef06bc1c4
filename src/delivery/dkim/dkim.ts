import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign as signBytes } from 'node:crypto'
import { withCrlf } from '@waxwing/smtp-client'
import type { Config } from '../../platform/config/config.ts'
import { readSettingFile } from '../../platform/config/env-file.ts'
import { asciiDomain } from '../../platform/values/domain.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { SetupFault } from '../../platform/values/errors.ts'

// RFC 8301: signers must use at least 1024 bits, verifiers need not support more than 4096.
const rsaBitsMin = 1024
const rsaBitsMax = 4096

export type DkimSettings = { domain: string; selector: string; privateKeyFile: string }

export type DkimSigner = {
  domain: string
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  publicKey: KeyObject
  /**
   * Returns the message with its signature prepended. With RSA-2048 the most expensive step of an email. `time` is when
   * the message was accepted, so that it is signed with the same bytes whenever it is sent again.
   */
  sign<Raw extends string | Buffer>(raw: Raw, time?: Date): Raw
  /** Returns the signature as a header field with CRLF. `head` are the header fields, with or without the last CRLF. */
  signHead(head: string, bodyHash: string, time: Date): string
  /** The length of what `signHead` returns. */
  signatureLength(head: string, time: Date): number
}

/** Loads the key once, because parsing it is expensive. Throws `SetupFault` if a setting is invalid. */
export function loadDkim({ domain, selector, privateKeyFile }: DkimSettings): DkimSigner {
  const host = asciiDomain(domain)
  if (host === undefined) throw new SetupFault(`DKIM_DOMAIN: "${domain}" is not a domain name.`)
  if (!selectorPattern.test(selector))
    throw new SetupFault(`DKIM_SELECTOR: "${selector}" must be a name such as "mail2026".`)
  return createSigner(host, selector.toLowerCase(), readKey(privateKeyFile))
}

export function createSigner(domain: string, selector: string, key: KeyObject): DkimSigner {
  const algorithm = key.asymmetricKeyType === 'rsa' ? 'rsa-sha256' : 'ed25519-sha256'
  const signer = { domain, selector, algorithm, publicKey: createPublicKey(key) } as const
  const sign = <Raw extends string | Buffer>(raw: Raw, time = new Date()): Raw => {
    if (typeof raw === 'string') return signText(raw, 'utf8', signer, key, time) as Raw
    return Buffer.from(signText(raw.toString('latin1'), 'latin1', signer, key, time), 'latin1') as Raw
  }
  const encodedHash = (bytes: number) => Buffer.alloc(bytes).toString('base64')
  return {
    ...signer,
    sign,
    signHead: (head, bodyHash, time) => signatureField(head, bodyHash, 'utf8', signer, key, time),
    signatureLength: (head, time) => {
      const { unsigned } = unsignedField(head, encodedHash(hashBytes), signer, time)
      return signedField(unsigned, encodedHash(signatureBytesOf(signer.publicKey))).length
    },
  }
}

const hashBytes = 32
const ed25519SignatureBytes = 64
const signatureBytesOf = (key: KeyObject) =>
  key.asymmetricKeyType === 'rsa' ? key.asymmetricKeyDetails!.modulusLength! / 8 : ed25519SignatureBytes

/** Returns undefined if the settings do not configure DKIM. */
export function dkimOf({
  DKIM_DOMAIN: domain,
  DKIM_SELECTOR: selector,
  DKIM_PRIVATE_KEY_FILE: privateKeyFile,
}: Config): DkimSigner | undefined {
  return domain && selector && privateKeyFile ? loadDkim({ domain, selector, privateKeyFile }) : undefined
}

/** Unlike a domain, a selector may contain underscores. */
const selectorPattern =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i

function readKey(file: string): KeyObject {
  const fault = (why: string) => new SetupFault(`DKIM_PRIVATE_KEY_FILE: ${file} ${why}`)
  const pem = readSettingFile('DKIM_PRIVATE_KEY_FILE', file)
  if (pem.includes('ENCRYPTED')) throw fault('is protected by a passphrase. Save the key without one.')
  if (pem.includes('PUBLIC KEY-----')) throw fault('contains a public key. A private key is required.')
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw fault('does not contain a valid private key. It must be an RSA or Ed25519 key in PEM format.')
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (key.asymmetricKeyType === 'ed25519') return key
  if (key.asymmetricKeyType !== 'rsa')
    throw fault(`contains a key of type ${key.asymmetricKeyType}. DKIM supports RSA and Ed25519.`)
  if (bits < rsaBitsMin)
    throw fault(`contains an RSA key of ${bits} bits, which receivers do not trust. Use 2048 bits.`)
  if (bits > rsaBitsMax)
    throw fault(`contains an RSA key of ${bits} bits, which receivers may not support. Use 2048 bits.`)
  return key
}

/** Returns the DNS record that publishes the key. In a zone file, the value must be split at 255 characters. */
export function dnsRecord(signer: DkimSigner): { name: string; type: 'TXT'; value: string } {
  const spki = signer.publicKey.export({ type: 'spki', format: 'der' })
  // RFC 8463: for Ed25519, only the 32 bytes of the key, which are at the end of the structure.
  const [kind, key] = signer.algorithm === 'rsa-sha256' ? ['rsa', spki] : ['ed25519', spki.subarray(-32)]
  return {
    name: `${signer.selector}._domainkey.${signer.domain}`,
    type: 'TXT',
    value: `v=DKIM1; k=${kind}; p=${key.toString('base64')}`,
  }
}

type Encoding = 'utf8' | 'latin1'
type Signer = Pick<DkimSigner, 'domain' | 'selector' | 'algorithm'>

function signText(text: string, encoding: Encoding, signer: Signer, key: KeyObject, time: Date): string {
  const raw = withCrlf(text)
  const headEnd = raw.indexOf('\r\n\r\n')
  const head = headEnd < 0 ? raw : raw.slice(0, headEnd)
  const body = headEnd < 0 ? '' : raw.slice(headEnd + 4)
  const bodyHash = createHash('sha256').update(relaxedBody(body), encoding).digest('base64')
  return signatureField(head, bodyHash, encoding, signer, key, time) + raw
}

function unsignedField(head: string, bodyHash: string, { domain, selector, algorithm }: Signer, time: Date) {
  const { names, fields } = signedHeaders(head)
  const unsigned =
    `v=1; a=${algorithm}; c=relaxed/relaxed; d=${domain}; s=${selector};\r\n` +
    ` t=${seconds(time.getTime())}; x=${seconds(expiryOf(time.getTime()))};\r\n` +
    ` h=${names}\r\n  ${protectedNames};\r\n bh=${bodyHash};\r\n b=`
  return { unsigned, fields }
}

const seconds = (ms: number) => Math.floor(ms / 1000)

const validMs = 14 * dayMs
const validMsMin = validMs / 2

/**
 * A captured email cannot be sent on forever. The signature is valid for 14 days after the message was accepted, or, if
 * it is sent later than a week after that, because it was scheduled or its mail server was down, for as many times 14
 * days as leave a week. So all attempts within a week have the same bytes.
 */
function expiryOf(timeMs: number): number {
  const periods = Math.ceil((Date.now() - timeMs + validMsMin) / validMs)
  return timeMs + Math.max(1, periods) * validMs
}

function signatureField(
  head: string,
  bodyHash: string,
  encoding: Encoding,
  signer: Signer,
  key: KeyObject,
  time: Date,
): string {
  const { unsigned, fields } = unsignedField(head, bodyHash, signer, time)
  const signed = Buffer.from(`${fields}${relaxedField(`DKIM-Signature: ${unsigned}`)}`, encoding)
  // RFC 8463: Ed25519 signs the hash of the text; RSA hashes the text itself.
  const signature =
    signer.algorithm === 'rsa-sha256'
      ? signBytes('sha256', signed, key)
      : signBytes(null, createHash('sha256').update(signed).digest(), key)
  return signedField(unsigned, signature.toString('base64'))
}

const signedField = (unsigned: string, signature: string) =>
  `DKIM-Signature: ${unsigned}${signature.replace(/.{72}(?=.)/g, '$&\r\n  ')}\r\n`

/** Signed if present, and listed once more, so that nobody who sends a captured email on can add another. */
const protectedHeaders = [
  ...['from', 'to', 'cc', 'subject', 'date', 'message-id', 'mime-version', 'content-type'],
  ...['content-transfer-encoding', 'reply-to', 'list-unsubscribe', 'list-unsubscribe-post'],
]
const protectedNames = protectedHeaders.join(':')
/** The others are signed if present. */
const headers = [...protectedHeaders, 'in-reply-to', 'references']

/** Returns the signed header fields, and the name of each with a colon. */
function signedHeaders(head: string): { names: string; fields: string } {
  const present = new Map<string, string[]>()
  for (const field of head.split(/\r\n(?![ \t])/)) {
    const name = field.slice(0, field.indexOf(':')).trimEnd().toLowerCase()
    present.set(name, [...(present.get(name) ?? []), field])
  }
  let names = ''
  let fields = ''
  // RFC 6376 counts multiple headers from the last one up.
  for (const name of headers)
    for (const field of (present.get(name) ?? []).reverse()) {
      names += `${name}:`
      fields += `${relaxedField(field)}\r\n`
    }
  return { names, fields }
}

// Does not match a single space: replacing each one with itself takes ten times as long.
const blanks = /[ \t]{2,}|\t/g

/** RFC 6376 section 3.4.2. */
function relaxedField(field: string): string {
  const colon = field.indexOf(':')
  const value = field
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(blanks, ' ')
    .replace(/^ | $/g, '')
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value}`
}

const relaxedLines = (lines: string) => lines.replace(blanks, ' ').replaceAll(' \r\n', '\r\n')

/** Computes the hash of a body that arrives in parts, with CRLF line endings. */
export class BodyHash {
  readonly #hash = createHash('sha256')
  /** The start of a line whose end has not arrived yet. */
  #rest = ''
  /** Empty lines at the end of a body do not count. */
  #emptyLines = 0

  update(part: Buffer): void {
    const text = this.#rest + part.toString('latin1')
    const end = text.lastIndexOf('\r\n') + 2
    if (end < 2) this.#rest = text
    else {
      this.#rest = text.slice(end)
      this.#add(relaxedLines(text.slice(0, end)))
    }
  }

  digest(): string {
    const last = relaxedLines(this.#rest).replace(/ $/, '')
    if (last !== '') this.#add(`${last}\r\n`)
    return this.#hash.digest('base64')
  }

  /** `lines` ends with CRLF. */
  #add(lines: string): void {
    let end = lines.length
    while (lines.endsWith('\r\n', end)) end -= 2
    if (end > 0) {
      for (; this.#emptyLines > 0; this.#emptyLines--) this.#hash.update('\r\n')
      this.#hash.update(`${lines.slice(0, end)}\r\n`, 'latin1')
      this.#emptyLines = -1
    }
    this.#emptyLines += (lines.length - end) / 2
  }
}

/** RFC 6376 section 3.4.4. Whitespace is collapsed first, which keeps the following steps linear. */
function relaxedBody(body: string): string {
  const lines = relaxedLines(body).replace(/ $/, '')
  let end = lines.length
  while (lines.endsWith('\r\n', end)) end -= 2
  return end === 0 ? '' : `${lines.slice(0, end)}\r\n`
}
