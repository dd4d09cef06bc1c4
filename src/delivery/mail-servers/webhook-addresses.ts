import { createHmac, timingSafeEqual } from 'node:crypto'
import { type AppSecrets, deriveKey } from '../../platform/secrets/secrets.ts'
import type { MailServerId, OrganizationId } from '../../platform/values/ids.ts'
import { readUuid, uuidBytes, writeUuid } from '../../platform/values/uuid.ts'
import type { MailServerKey } from './mail-server.ts'

const macBytes = 16
const idsBytes = 2 * uuidBytes

/**
 * The addresses to which providers post their reports. Each contains a token that names the organization and the mail server, and
 * cannot be guessed.
 */
export class WebhookAddresses {
  readonly #baseUrl: () => string
  readonly #keys: Buffer[]

  constructor({ current, previous }: AppSecrets, baseUrl: () => string) {
    this.#baseUrl = baseUrl
    const secrets = previous === undefined ? [current] : [current, previous]
    this.#keys = secrets.map((secret) => deriveKey(secret, 'mail server webhooks'))
  }

  addressOf({ organizationId, id }: MailServerKey): string {
    const ids = Buffer.alloc(idsBytes)
    writeUuid(ids, 0, organizationId)
    writeUuid(ids, uuidBytes, id)
    const token = Buffer.concat([ids, macOf(this.#keys[0]!, ids)]).toString('base64url')
    return `${this.#baseUrl()}/providers/mail-servers/${token}/events`
  }

  /** Returns undefined if the token was not made by `addressOf`. */
  read(token: string): MailServerKey | undefined {
    const bytes = Buffer.from(token, 'base64url')
    if (bytes.length !== idsBytes + macBytes || bytes.toString('base64url') !== token) return undefined
    const ids = bytes.subarray(0, idsBytes)
    const isGenuine = (key: Buffer) => timingSafeEqual(macOf(key, ids), bytes.subarray(idsBytes))
    if (!this.#keys.some(isGenuine)) return undefined
    return {
      organizationId: readUuid(ids, 0) as OrganizationId,
      id: readUuid(ids, uuidBytes) as MailServerId,
    }
  }
}

const macOf = (key: Buffer, ids: Buffer) => createHmac('sha256', key).update(ids).digest().subarray(0, macBytes)
