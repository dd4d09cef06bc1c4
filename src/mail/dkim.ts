import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign as signBytes } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { withCrlf } from '@waxwing/smtp-client'
import { readSettingFile } from '../config/setting-files.ts'
import { SetupFault } from '../values/errors.ts'

// RFC 8301: a signer must not use less, a verifier need not understand more.
const rsaBitsMin = 1024
const rsaBitsMax = 4096

export type DkimSettings = { domain: string; selector: string; privateKeyFile: string }

export type DkimSigner = {
  domain: string
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  publicKey: KeyObject
  /** The message with its signature on top. With RSA-2048 that is by far the dearest step of a mail; Ed25519 is cheaper. */
  sign<Raw extends string | Buffer>(raw: Raw, now?: Date): Raw
}

/** Reads the key once: parsing it for each mail would triple the cost. Throws a SetupFault. */
export function loadDkim({ domain, selector, privateKeyFile }: DkimSettings): DkimSigner {
  const host = domainToASCII(domain).toLowerCase()
  if (!dnsName.test(host)) throw new SetupFault(`DKIM_DOMAIN: "${domain}" is no domain name.`)
  if (!dnsName.test(selector)) throw new SetupFault(`DKIM_SELECTOR: "${selector}" must be a name such as "mail2026".`)
  const key = readKey(privateKeyFile)
  const algorithm = key.asymmetricKeyType === 'rsa' ? 'rsa-sha256' : 'ed25519-sha256'
  const signer = { domain: host, selector: selector.toLowerCase(), algorithm, publicKey: createPublicKey(key) } as const
  const sign = <Raw extends string | Buffer>(raw: Raw, now = new Date()): Raw => {
    if (typeof raw === 'string') return signText(raw, 'utf8', signer, key, now) as Raw
    return Buffer.from(signText(raw.toString('latin1'), 'latin1', signer, key, now), 'latin1') as Raw
  }
  return { ...signer, sign }
}

const dnsName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i

function readKey(file: string): KeyObject {
  const fault = (why: string) => new SetupFault(`DKIM_PRIVATE_KEY_FILE: ${file} ${why}`)
  const pem = readSettingFile('DKIM_PRIVATE_KEY_FILE', file)
  if (pem.includes('ENCRYPTED')) throw fault('is protected by a passphrase. Save the key without one.')
  if (pem.includes('PUBLIC KEY-----')) throw fault('holds the public key. The private one is needed.')
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw fault('holds no private key that can be read. It must be RSA or Ed25519 in PEM form.')
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (key.asymmetricKeyType === 'ed25519') return key
  if (key.asymmetricKeyType !== 'rsa')
    throw fault(`holds a key of the kind ${key.asymmetricKeyType}. DKIM knows RSA and Ed25519.`)
  if (bits < rsaBitsMin) throw fault(`holds an RSA key of ${bits} bits, which receivers do not trust. Use 2048.`)
  if (bits > rsaBitsMax) throw fault(`holds an RSA key of ${bits} bits, which receivers need not read. Use 2048.`)
  return key
}

/** What must stand in the DNS for receivers to find the key. In a zone file, split the value at 255 characters. */
export function dnsRecord(signer: DkimSigner): { name: string; type: 'TXT'; value: string } {
  const spki = signer.publicKey.export({ type: 'spki', format: 'der' })
  // RFC 8463: for Ed25519 the 32 bytes of the key alone, which end the structure.
  const [kind, key] = signer.algorithm === 'rsa-sha256' ? ['rsa', spki] : ['ed25519', spki.subarray(-32)]
  return {
    name: `${signer.selector}._domainkey.${signer.domain}`,
    type: 'TXT',
    value: `v=DKIM1; k=${kind}; p=${key.toString('base64')}`,
  }
}

type Encoding = 'utf8' | 'latin1'

function signText(
  text: string,
  encoding: Encoding,
  { domain, selector, algorithm }: Pick<DkimSigner, 'domain' | 'selector' | 'algorithm'>,
  key: KeyObject,
  now: Date,
): string {
  const raw = withCrlf(text)
  const headEnd = raw.indexOf('\r\n\r\n')
  const head = headEnd < 0 ? raw : raw.slice(0, headEnd)
  const body = headEnd < 0 ? '' : raw.slice(headEnd + 4)
  const bodyHash = createHash('sha256').update(relaxedBody(body), encoding).digest('base64')
  const { names, fields } = signedHeaders(head)
  const unsigned =
    `v=1; a=${algorithm}; c=relaxed/relaxed; d=${domain}; s=${selector};\r\n` +
    ` t=${Math.floor(now.getTime() / 1000)}; h=${names.join(':')};\r\n bh=${bodyHash};\r\n b=`
  const signed = Buffer.from(`${fields}${relaxedField(`DKIM-Signature: ${unsigned}`)}`, encoding)
  // RFC 8463 signs the hash with Ed25519, where RSA takes the text and hashes it itself.
  const signature =
    algorithm === 'rsa-sha256'
      ? signBytes('sha256', signed, key)
      : signBytes(null, createHash('sha256').update(signed).digest(), key)
  return `DKIM-Signature: ${unsigned}${signature.toString('base64').replace(/.{72}(?=.)/g, '$&\r\n  ')}\r\n${raw}`
}

/** Signed where present. Those marked are named once more than they occur, so that none can be added on the way. */
const headers: [name: string, mayNotBeAdded: boolean][] = [
  ['from', true],
  ['to', false],
  ['subject', true],
  ['date', false],
  ['message-id', false],
  ['mime-version', false],
  ['content-type', false],
  ['content-transfer-encoding', false],
  ['reply-to', false],
  ['list-unsubscribe', false],
  ['list-unsubscribe-post', false],
]

function signedHeaders(head: string): { names: string[]; fields: string } {
  const present = new Map<string, string[]>()
  for (const field of head.split(/\r\n(?![ \t])/)) {
    const name = field.slice(0, field.indexOf(':')).trimEnd().toLowerCase()
    present.set(name, [...(present.get(name) ?? []), field])
  }
  const names: string[] = []
  let fields = ''
  for (const [name, mayNotBeAdded] of headers) {
    // Receivers count from the last one up.
    for (const field of (present.get(name) ?? []).reverse()) {
      names.push(name)
      fields += `${relaxedField(field)}\r\n`
    }
    if (mayNotBeAdded) names.push(name)
  }
  return { names, fields }
}

// A single space is left alone: replacing each by itself takes ten times as long.
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

/** RFC 6376 section 3.4.4. Blanks are joined first, so that no search runs over the same blanks twice. */
function relaxedBody(body: string): string {
  const lines = body.replace(blanks, ' ').replaceAll(' \r\n', '\r\n').replace(/ $/, '')
  let end = lines.length
  while (lines.endsWith('\r\n', end)) end -= 2
  return end === 0 ? '' : `${lines.slice(0, end)}\r\n`
}
