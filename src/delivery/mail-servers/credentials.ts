import type { Db } from '../../platform/db/db.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { type AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import { replaceSealed, type SealedRow, selectSealedAfter } from './mail-servers.sql.ts'

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

export const mailServerBox = (secrets: AppSecrets): SecretBox => new SecretBox(secrets, 'mail servers')

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

const pageSize = 500

/** Reads the credentials of all mail servers in pages. */
async function* readSealed(db: Db): AsyncGenerator<SealedRow> {
  const pacer = new Pacer()
  let after: SealedRow | undefined
  do {
    const rows = await selectSealedAfter(db, after, pageSize)
    for (const row of rows) {
      if (pacer.isDue) await pacer.turn()
      yield row
    }
    after = rows.length === pageSize ? rows.at(-1) : undefined
  } while (after)
}

type ResealParts = { db: Db; box: SecretBox }

/** Encrypts credentials that depend on the previous APP_SECRET again, so that the previous one can be removed. */
export async function resealMailServers({ db, box }: ResealParts): Promise<void> {
  for await (const row of readSealed(db)) {
    const url = box.reseal(row.url)
    const oauth = row.oauth && box.reseal(row.oauth)
    const webhookSecret = row.webhookSecret && box.reseal(row.webhookSecret)
    if (!url && !oauth && !webhookSecret) continue
    await replaceSealed(db.statement, row, {
      url: url ?? row.url,
      oauth: oauth ?? row.oauth,
      webhookSecret: webhookSecret ?? row.webhookSecret,
    })
  }
}

/** Counts the mail servers whose credentials need the previous APP_SECRET, and those that neither secret decrypts. */
export async function countCredentials({
  db,
  box,
}: ResealParts): Promise<{ dependent: number; undecryptable: number }> {
  const counts = { dependent: 0, undecryptable: 0 }
  for await (const row of readSealed(db)) {
    if (openCredentials(box, row) === undefined) counts.undecryptable++
    else if (box.reseal(row.url) !== undefined) counts.dependent++
  }
  return counts
}

/** The message for the operator about so many mail servers. */
export const undecryptableServersWarning = (count: number): string =>
  `The credentials of ${count} ${count === 1 ? 'mail server' : 'mail servers'} were encrypted with another APP_SECRET, so no email leaves through ${count === 1 ? 'it' : 'them'}. Set APP_SECRET_PREVIOUS to that secret, or enter the credentials again.`
