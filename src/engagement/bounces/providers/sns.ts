import { verify, X509Certificate } from 'node:crypto'
import { textAt } from './json.ts'

/** Fetches a small text over https. Rejects if it is too large or takes too long. */
export type FetchText = (url: string) => Promise<string>

const certificatesMax = 20
const isSnsUrl = (text: string, path: RegExp): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, pathname, port, username } = new URL(text)
  const isSns = /^sns\.[a-z0-9-]{3,40}\.amazonaws\.com(?:\.cn)?$/.test(hostname)
  return protocol === 'https:' && isSns && port === '' && username === '' && path.test(pathname)
}

export const isSubscribeUrl = (url: string) => isSnsUrl(url, /^\/$/)

/** The signed fields, in order; missing fields are skipped. */
const signedFields: Record<string, readonly string[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}
const hashes: Record<string, string> = { '1': 'sha1', '2': 'sha256' }

/** Ignores inherited properties such as `constructor`. */
const ownValue = <Value>(values: Record<string, Value>, name = ''): Value | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** Verifies that Amazon SNS signed a message, with the certificate that it names, which must be hosted by SNS. */
export class SnsSignatures {
  readonly #fetchText: FetchText
  readonly #certificates = new Map<string, Promise<X509Certificate>>()

  constructor(fetchText: FetchText) {
    this.#fetchText = fetchText
  }

  async isGenuine(message: unknown): Promise<boolean> {
    const fields = ownValue(signedFields, textAt(message, 'Type'))
    const hash = ownValue(hashes, textAt(message, 'SignatureVersion'))
    const signature = textAt(message, 'Signature')
    const url = textAt(message, 'SigningCertURL')
    if (!fields || !hash || !signature || !url || !isSnsUrl(url, /\.pem$/)) return false
    const signed = fields.map((name) => [name, textAt(message, name)]).filter(([, value]) => value !== undefined)
    const text = signed.map(([name, value]) => `${name}\n${value}\n`).join('')
    const certificate = await this.#certificate(url)
    if (Date.parse(certificate.validTo) < Date.now()) return false
    return verify(hash, Buffer.from(text), certificate.publicKey, Buffer.from(signature, 'base64'))
  }

  #certificate(url: string): Promise<X509Certificate> {
    let certificate = this.#certificates.get(url)
    if (!certificate) {
      certificate = this.#fetchText(url).then((pem) => new X509Certificate(pem))
      if (this.#certificates.size >= certificatesMax) this.#certificates.clear()
      this.#certificates.set(url, certificate)
      // A failed fetch is not cached.
      certificate.catch(() => this.#certificates.delete(url))
    }
    return certificate
  }
}
