import type { SealedTable } from '../../platform/db/sealed.ts'
import { type AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'

/** A client of OAuth 2 with the refresh token that a user has granted it. */
export type OAuthClient = {
  user: string
  clientId: string
  clientSecret: string
  refreshToken: string
  tokenUrl: string
  scope: string | null
}

/** The URL as SMTP_URL, with its password if it has one. */
export type Credentials = { url: string; oauth: OAuthClient | null }
export type SealedCredentials = { url: Buffer; oauth: Buffer | null }

export const unreadableCredentials = 'its credentials were encrypted with another APP_SECRET; enter them again'

export const mailServerCredentials: SealedTable = {
  name: 'mail_servers',
  purpose: 'mail servers',
  needed: ['url', 'oauth'],
  others: ['webhook_secret'],
  words: {
    values: 'credentials',
    row: 'mail server',
    consequence: 'no email is sent with them',
    remedy: 'enter the credentials again',
  },
}

export const mailServerBox = (secrets: AppSecrets): SecretBox => new SecretBox(secrets, mailServerCredentials.purpose)

export const sealCredentials = (box: SecretBox, { url, oauth }: Credentials): SealedCredentials => ({
  url: box.seal(url),
  oauth: oauth && sealOAuth(box, oauth),
})

export const sealOAuth = (box: SecretBox, oauth: OAuthClient): Buffer => box.seal(JSON.stringify(oauth))

/** Returns undefined if they were encrypted with another APP_SECRET. */
export function openCredentials(box: SecretBox, sealed: SealedCredentials): Credentials | undefined {
  const url = box.open(sealed.url)
  const oauth = sealed.oauth && openOAuth(box, sealed.oauth)
  return url === undefined || oauth === undefined ? undefined : { url, oauth }
}

export function openOAuth(box: SecretBox, sealed: Buffer): OAuthClient | undefined {
  const text = box.open(sealed)
  return text === undefined ? undefined : (JSON.parse(text) as OAuthClient)
}
