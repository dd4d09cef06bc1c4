// Replaces values that differ in every run by constant ones, so that recorded examples can be compared.

const day = '2026-03-02'
/** Times by the name of their field, in a plausible order. */
const times: Record<string, string> = {
  created_at: '09:30:00.000',
  updated_at: '09:41:12.000',
  queued_at: '10:15:00.120',
  sent_at: '10:15:00.480',
  received_at: '10:15:00.480',
  occurred_at: '10:15:00.480',
  at: '10:15:00.731',
  delivered_at: '10:15:00.815',
  last_delivery_at: '10:15:00.815',
  last_sent_at: '10:15:00.480',
  starts_at: '10:15:00.000',
  started_at: '10:15:00.120',
  finished_at: '09:30:02.417',
  last_used_at: '10:15:00.000',
  last_login_at: '08:58:41.000',
}
const numbers: Record<string, number> = { duration_ms: 84, size_bytes: 1874, timestamp: 1772446500 }
const texts: Record<string, string> = {
  'retry-after': '60',
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMDFranQ1cjAifQ.4rX1mC0nUq2sZpV7yQ9dLw3kTb6hJf8eGaR5oNiYxHs',
  api_key: 'wxk_8sKq2LmV5xTz7RwYb1NcDf4Gh9Jp3Qa6Ue0Wi8Zo2Xs',
  signing_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2mFJkTqK7Xs=',
  prefix: 'wxk_8sKq',
  request_id: 'req_5d0c8f1e9a4b7c26000001',
  ip_address: '203.0.113.7',
  client: '203.0.113.7',
  cursor: 'LnTqswAAAAAAAAOnAAABnNYi-dgBnNYi-dh6G4wtPk9aa3yN',
  after: 'LnTqswAAAAAAAAOmAADlaJGS9___________________fw',
  next_cursor: 'WyIwMTljYWQ2Yi0zZTAwLTdhMWItOGMyZC0zZTRmNWE2YjdjOGQiXQ',
}
const linkToken = '_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV'
const mailgunToken = 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0'
const imageKey = 'AZzWIvnYehuMLT5PWmt8jQGc1iL52HsbjC0-T1prfI1Zk4mQ8vTs1Lx6Rb0Nf3Wy'
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const prefixes = 'org|usr|key|grp|con|flw|msg|evt|whk|dlv|imp|inv|ntc|ses|seg|blk|brc|exp|dom|mse|eml|img|prt'

export type Replacement = readonly [from: string, to: string]

export class Stable {
  readonly #ids = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #replacements: readonly Replacement[]

  /** `replacements` are applied to every text, such as the address of a receiver. */
  constructor(replacements: readonly Replacement[]) {
    this.#replacements = replacements
  }

  of(value: unknown, field = ''): unknown {
    if (typeof value === 'string') return this.#text(value, field)
    if (typeof value === 'number') return numbers[field] ?? value
    if (Array.isArray(value)) return value.map((item) => this.of(item, field))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.of(item, key)]))
  }

  #text(text: string, field: string): string {
    if (isoTime.test(text) && field === 'send_at') return '2026-03-03T08:00:00.000Z'
    if (isoTime.test(text))
      return field.endsWith('expires_at') || field.endsWith('_ends_at')
        ? '2026-03-09T09:30:00.000Z'
        : `${day}T${times[field] ?? '09:30:00.000'}Z`
    if (field === 'at' && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text)) return '2026-03-04T09:00'
    const link = /^(inv|rst|eml)_[0-9a-z]{26}[\w-]{43}$/.exec(text)
    if (link) return `${link[1]}${linkToken}`
    if (field === 'token' && !text.startsWith('ey')) return mailgunToken
    if (field === 'signature') return '7d6f1c0e5b8a4f3d9c2e1a0b7f6d5c4e3b2a19087f6e5d4c3b2a190817263544'
    const known = field === 'prefix' && !text.startsWith('wxk_') ? undefined : texts[field]
    if (known !== undefined) return known
    let stable = text
    for (const [from, to] of this.#replacements) stable = stable.replaceAll(from, to)
    return stable
      .replace(/\/i\/[\w-]{64}\./, `/i/${imageKey}.`)
      .replace(/inv_[0-9a-z]{26}[\w-]{43}/g, `inv${linkToken}`)
      .replace(/req_[0-9a-f]{16}[0-9a-z]{6,}/g, texts.request_id!)
      .replace(new RegExp(`\\b(${prefixes})_([0-9a-z]{26})\\b`, 'g'), (id, prefix: string) => this.#id(id, prefix))
      .replace(
        /t=\d{10},v1=[0-9a-f]{64}/g,
        't=1772446500,v1=0c6a1c1a5cbbb6f0d2c2ad3b0f6f3f4f3a2b9d1f9d6ec1c2a52f1b7b3f0a9e41',
      )
      .replace(/"timestamp":\d{10}/g, '"timestamp":1772446500')
      .replace(/^\d{10}$/, '1772446500')
  }

  /** The same id is replaced by the same constant everywhere. */
  #id(id: string, prefix: string): string {
    const known = this.#ids.get(id)
    if (known) return known
    const number = (this.#counts.get(prefix) ?? 0) + 1
    this.#counts.set(prefix, number)
    const made = `${prefix}_01kjt5r2g0e0t8vz1q0m3w${number.toString().padStart(4, '0')}`
    this.#ids.set(id, made)
    return made
  }
}
