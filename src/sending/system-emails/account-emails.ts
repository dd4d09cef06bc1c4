import type { AccountEmail, AccountEmails } from '../../accounts/accounts.ts'
import type { Carriers } from '../../delivery/delivery.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type Claim, enqueue } from '../../platform/queue/queue.ts'
import type { WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { minuteMs } from '../../platform/values/durations.ts'
import { type MessageId, newId } from '../../platform/values/ids.ts'
import { accountEmailContent } from './account-email-text.ts'
import {
  type SystemEmail,
  type SystemEmailParts,
  systemEmailJob,
  systemEmailKind,
  systemEmailLane,
} from './system-email.job.ts'

const dayMinutes = 24 * 60
/** Emails without a link are sent until then if the mail server is unavailable. */
const noticeMinutes = 3 * dayMinutes

/** An email is not sent after the link in it has expired. */
function expiresInMinutes(email: AccountEmail): number {
  switch (email.kind) {
    case 'password_reset':
    case 'email_confirmation':
      return email.minutes
    case 'invitation':
      return email.days * dayMinutes
    case 'password_changed':
    case 'email_taken':
    case 'email_changed':
      return noticeMinutes
  }
}

/** The content is encrypted, because it contains tokens. Times are in milliseconds since 1970. */
type Payload = { recipient: string; content: string; createdAt: number; expiresAt: number }

export type AccountEmailQueue = AccountEmails & {
  /** Returns undefined if the content was encrypted with another secret. */
  open(content: string): AccountEmail | undefined
}

export const createAccountEmails = (box: SecretBox, carriers: Carriers): AccountEmailQueue => ({
  add: (tx, { organizationId, email: recipient }, email) => {
    const createdAt = Date.now()
    const content = box.seal(JSON.stringify(email)).toString('base64')
    const expiresAt = createdAt + expiresInMinutes(email) * minuteMs
    addAccountEmail(tx, { organizationId, id: newId('msg') }, { recipient, content, createdAt, expiresAt })
  },
  open: (content) => {
    const text = box.open(Buffer.from(content, 'base64'))
    return text === undefined ? undefined : (JSON.parse(text) as AccountEmail)
  },
  pathOf: (organizationId, options) => carriers.pathOf(organizationId, options),
  pathOfResets: () => carriers.pathOfResets(),
})

/** The emails wait while the mail server is unreachable, until their links expire. */
export const addAccountEmail = (tx: Tx, key: Pick<SystemEmail, 'organizationId' | 'id'>, payload: Payload): void =>
  enqueue(tx, [{ ...key, kind: systemEmailKind.account, lane: systemEmailLane, payload }])

export const accountEmailJob = (
  parts: SystemEmailParts & { accountEmails: AccountEmailQueue },
): WorkerSpec<SystemEmail> => {
  const { log, settings, accountEmails } = parts
  const written = ({ organizationId, id, payload }: Claim): SystemEmail | undefined => {
    const { recipient, content: sealed, createdAt, expiresAt } = payload as Payload
    if (expiresAt <= Date.now()) return undefined
    const email = accountEmails.open(sealed)
    if (!email) {
      log.warn({ email: id }, 'An account email was discarded: it was encrypted with another APP_SECRET')
      return undefined
    }
    const content = accountEmailContent(email, settings.baseUrl, recipient)
    const key = { organizationId, id: id as MessageId }
    return { ...key, email: recipient, createdAt: new Date(createdAt), content, isPrivate: true }
  }
  return systemEmailJob(parts, 'account', async (claims) => claims.map(written))
}
