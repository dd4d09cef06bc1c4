import { createPublicKey } from 'node:crypto'
import { isLoopback } from '@waxwing/smtp-client'
import { checkWebhookUrl } from '../../platform/egress/webhook-url.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { asciiDomain } from '../../platform/values/domain.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import { checkName } from '../../platform/values/names.ts'
import { isStorable, unstorableProblem } from '../../platform/values/text.ts'
import { checkTarget } from './allowed-targets.ts'
import { type Connection, readUrl, usualSecurity, writeUrl } from './connection.ts'
import { type Credentials, type OAuthClient, openCredentials, sealCredentials } from './credentials.ts'
import type { AuthMethod } from './mail-server.ts'
import type { ConnectionInput, MailServerChanges } from './mail-servers.shapes.ts'
import type { SealedMailServer, StoredSettings } from './mail-servers.sql.ts'
import type { ReportProvider } from './preset.ts'
import { findPreset } from './presets.ts'

/** A mail server as it is connected to. */
export type Target = { connection: Connection; oauth: OAuthClient | null; preset: string | null }

type Options = { allowPrivate: boolean }

const partsOfUrl = ['host', 'port', 'security', 'password'] as const

/**
 * Returns how to connect, from a request and what was stored before. Credentials are kept only for the same host and
 * encryption: otherwise a member could have them sent to another server. Throws `Refusal` if the input is invalid.
 */
export function targetOf(input: ConnectionInput, current: Target | undefined, options: Options): Target {
  const preset = input.preset === undefined ? (current?.preset ?? null) : input.preset
  const connection = connectionOf(input, current, preset)
  checkText(connection)
  const path = input.url === undefined ? 'host' : 'url'
  checkTarget(connection, { ...options, path })
  const oauth = oauthOf(input, current, { connection, preset }, options)
  if (oauth) {
    connection.password = null
    // Tokens are not sent to a server that was not identified.
    if (connection.security === 'opportunistic' && !isLoopback(connection.host)) connection.security = 'starttls'
  }
  const isMoved = current !== undefined && !isSamePlace(connection, current.connection)
  if (isMoved && keepsSecret(input, current, oauth))
    throw invalid({
      path: oauth ? 'oauth' : 'password',
      problem: 'must be entered again for another host or encryption',
    })
  if (!oauth && (connection.username === null) !== (connection.password === null))
    throw connection.username === null
      ? invalid({ path: 'username', problem: 'is required with a password' })
      : invalid({ path: 'password', problem: 'is required with a user name' })
  return { connection, oauth, preset }
}

/** Surrogates without their other half cannot be written in a URL. */
function checkText({ username, password }: Connection): void {
  if (username !== null && !isStorable(username)) throw invalid({ path: 'username', problem: unstorableProblem })
  if (password !== null && !isStorable(password)) throw invalid({ path: 'password', problem: unstorableProblem })
}

const isSamePlace = (one: Connection, other: Connection) =>
  one.host === other.host &&
  one.port === other.port &&
  one.security === other.security &&
  one.verifiesCertificate === other.verifiesCertificate

function keepsSecret(input: ConnectionInput, current: Target, oauth: OAuthClient | null): boolean {
  if (input.url !== undefined) return oauth !== null && input.oauth === undefined
  return oauth ? input.oauth === undefined : current.connection.password !== null && keepsPassword(input)
}

const keepsPassword = (input: ConnectionInput) => input.password === undefined && input.username !== null

function connectionOf(input: ConnectionInput, current: Target | undefined, presetId: string | null): Connection {
  if (input.url !== undefined) {
    const extra = partsOfUrl.find((name) => input[name] !== undefined)
    if (extra) throw invalid({ path: extra, problem: 'must not be combined with url' })
    const connection = readUrl(input.url)
    return { ...connection, username: connection.username ?? input.username ?? null }
  }
  const before = current?.connection
  const preset = input.preset ? findPreset(input.preset) : undefined
  const host = hostOf(input.host ?? preset?.hosts[0]?.host ?? before?.host)
  const port = input.port ?? preset?.port ?? before?.port ?? 587
  const username = input.username === undefined ? usernameOf(input, before, presetId) : input.username
  const password = username === null ? null : (input.password ?? before?.password ?? null)
  const isSamePort = before !== undefined && before.port === port
  const security =
    input.security ??
    (input.port === undefined ? preset?.security : undefined) ??
    (isSamePort ? before.security : usualSecurity(host, port, username !== null))
  return {
    ...{ host, port, security, username, password },
    verifiesCertificate: before?.verifiesCertificate ?? true,
    clientName: before?.clientName ?? null,
  }
}

function usernameOf({ password }: ConnectionInput, before: Connection | undefined, presetId: string | null) {
  const preset = findPreset(presetId)
  const isSecret = preset?.usernameIsPassword || (before?.password != null && before.username === before.password)
  return (isSecret ? password : undefined) ?? before?.username ?? preset?.username ?? null
}

function hostOf(text: string | undefined): string {
  if (text === undefined) throw invalid({ path: 'host', problem: 'is required unless there is a url or a preset' })
  const bare = text
    .trim()
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  const problem = 'must be a host name such as smtp.example.com'
  if (/[/@?#\s]/.test(bare)) throw invalid({ path: 'host', problem })
  try {
    // An IPv6 address is written in brackets in URLs only.
    return readUrl(`smtp://${bare.includes(':') ? `[${bare}]` : bare}`).host
  } catch (error) {
    if (error instanceof Refusal) throw invalid({ path: 'host', problem })
    throw error
  }
}

function oauthOf(
  { oauth: given, password, url, username }: ConnectionInput,
  current: Target | undefined,
  { connection, preset }: { connection: Connection; preset: string | null },
  { allowPrivate }: Options,
): OAuthClient | null {
  const replaced = password !== undefined || username === null || (url !== undefined && connection.password !== null)
  if (!given) {
    if (!current?.oauth || replaced || connection.username === null) return null
    return { ...current.oauth, user: connection.username }
  }
  if (password !== undefined || (url !== undefined && connection.password !== null))
    throw invalid({ path: 'oauth', problem: 'must not be combined with a password' })
  if (connection.username === null) throw invalid({ path: 'username', problem: 'is required with oauth' })
  const known = findPreset(preset)?.oauth
  const tokenUrl = given.token_url ?? known?.tokenUrl
  if (tokenUrl === undefined) throw invalid({ path: 'oauth.token_url', problem: 'is required for this provider' })
  const checked = checkWebhookUrl(tokenUrl, { allowPrivate })
  if ('problem' in checked) throw invalid({ path: 'oauth.token_url', problem: checked.problem })
  return {
    user: connection.username,
    clientId: given.client_id,
    clientSecret: given.client_secret,
    refreshToken: given.refresh_token,
    tokenUrl: checked.url,
    scope: given.scope === undefined ? (known?.scope ?? null) : given.scope,
  }
}

export const authOf = ({ connection, oauth }: Target): AuthMethod =>
  oauth ? 'oauth2' : connection.password === null ? 'none' : 'password'

export const credentialsOf = ({ connection, oauth }: Target): Credentials => ({ url: writeUrl(connection), oauth })

/** Returns the target of a stored mail server, or undefined if its credentials cannot be decrypted. */
export function storedTarget(box: SecretBox, server: SealedMailServer): Target | undefined {
  const credentials = openCredentials(box, server)
  if (!credentials) return undefined
  const { url, oauth } = credentials
  const connection = readUrl(url)
  return {
    connection: { ...connection, username: server.username ?? connection.username },
    oauth,
    preset: server.preset,
  }
}

const defaults = {
  isShared: false,
  kinds: ['transactional', 'marketing'] as StoredSettings['kinds'],
  fromDomains: [],
  priority: 10,
  weight: 100,
  connections: 5,
  messagesPerSecond: null,
  messagesPerDay: null,
  shapeByReceiver: false,
}

/** Returns the columns to store. Throws `Refusal` if a value is invalid. */
export function settingsOf(
  box: SecretBox,
  input: MailServerChanges,
  target: Target,
  current: SealedMailServer | undefined,
): StoredSettings {
  const { connection, preset } = target
  const { host, port, security, username, password } = connection
  const before = current ?? defaults
  return {
    name: input.name === undefined ? current!.name : checkName(input.name),
    ...{ preset, host, port, security, auth: authOf(target) },
    // A token that is both is a secret as well.
    username: username === password ? null : username,
    ...sealCredentials(box, credentialsOf(target)),
    webhookSecret: webhookSecretOf(box, input.webhookSecret, preset, current),
    isShared: input.isShared ?? before.isShared,
    kinds: input.kinds ?? before.kinds,
    fromDomains: input.fromDomains === undefined ? before.fromDomains : domainsOf(input.fromDomains),
    priority: input.priority ?? before.priority,
    weight: input.weight ?? before.weight,
    connections: input.connections ?? before.connections,
    messagesPerSecond: input.messagesPerSecond === undefined ? before.messagesPerSecond : input.messagesPerSecond,
    messagesPerDay: input.messagesPerDay === undefined ? before.messagesPerDay : input.messagesPerDay,
    shapeByReceiver: input.shapeByReceiver ?? before.shapeByReceiver,
  }
}

function domainsOf(texts: readonly string[]): string[] {
  const domains = texts.map((text, index) => {
    const domain = asciiDomain(text.trim().toLowerCase())
    if (domain === undefined) throw invalid({ path: `from_domains.${index}`, problem: 'must be a domain' })
    return domain
  })
  return [...new Set(domains)]
}

/** Kept for the same provider only. */
function webhookSecretOf(
  box: SecretBox,
  given: string | null | undefined,
  presetId: string | null,
  current: SealedMailServer | undefined,
): Buffer | null {
  if (given === undefined) return current?.preset === presetId ? current.webhookSecret : null
  if (given === null) return null
  const secret = given.trim()
  const problem = webhookSecretProblem(findPreset(presetId)?.provider ?? null, secret)
  if (problem) throw invalid({ path: 'webhook_secret', problem })
  return box.seal(secret)
}

/** As SendGrid shows it: base64 of the DER. */
function isPublicKey(text: string): boolean {
  try {
    const key = Buffer.from(text.replace(/-----[^-]+-----|\s+/g, ''), 'base64')
    return createPublicKey({ key, format: 'der', type: 'spki' }).asymmetricKeyType === 'ec'
  } catch {
    return false
  }
}

function webhookSecretProblem(provider: ReportProvider | null, secret: string): string | undefined {
  if (secret === '') return 'must not be empty'
  switch (provider) {
    case null:
      return 'is not used for this provider'
    case 'sendgrid':
      return isPublicKey(secret) ? undefined : 'must be the verification key that SendGrid shows'
    case 'ses':
      return /^arn:aws[\w-]*:sns:\S+$/.test(secret) ? undefined : 'must be the ARN of an SNS topic'
    case 'mailgun':
    case 'postmark':
      return undefined
  }
}
