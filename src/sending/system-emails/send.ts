import { compose } from '../../content/mime/compose.ts'
import type { DkimSigner } from '../../delivery/dkim/dkim.ts'
import type { SenderPolicy } from '../../delivery/dkim/sender-policy.ts'
import type { MailServers } from '../../delivery/mail-servers/mail-servers.ts'
import type { OpenServer } from '../../delivery/mail-servers/open-server.ts'
import { sendThrough } from '../../delivery/mail-servers/send-through.ts'
import { perOrganization } from '../../platform/db/cluster/batches.ts'
import { Claims } from '../../platform/db/cluster/claims.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { within } from '../../platform/runtime/within.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { isDemoAddress } from '../../platform/values/simulated-recipients.ts'
import { insertIntoInbox } from '../inbox/inbox.ts'
import type { EmailSettings, OutgoingEmail } from '../messages/outgoing.ts'
import { type EmailContent, renderEmail } from './layout.ts'
import {
  claimEmails,
  deleteEmails,
  type EmailKey,
  type EmailKind,
  postponeEmail,
  type Queued,
  selectDueOrganizations,
} from './queue.sql.ts'

/** Neither stopping nor the next emails wait longer for a slow relay. */
const sendWithinMs = 8_000
/** The relay may take five minutes for its last reply. Until then, another attempt could send the email twice. */
const slowReplySeconds = 360
const batchMax = 50
/** Of a distributed database, on which the emails of each organization are claimed on their own. */
const organizationsMax = 10
/** Also the wait before another attempt. Users wait for account emails. */
const leaseSeconds = { account: 60, notice: 300 }

/** Without attachments. */
type ComposedEmail = OutgoingEmail & { raw: string }

export type SystemEmailParts = {
  db: Db
  log: Log
  settings: EmailSettings
  servers: MailServers
  dkim: DkimSigner | undefined
  senders: SenderPolicy
}

/**
 * An email from the service to its users: an account email or a notice. The id is also used in the Message-ID, so that
 * duplicates can be recognized.
 */
export type SystemEmail = EmailKey & { email: string; createdAt: Date; content: EmailContent }

/**
 * Sends a batch of due emails. `write` returns their content; emails without content are discarded. Returns whether there
 * may be more, because some were discarded.
 */
export async function sendDueEmails<Kind extends EmailKind>(
  parts: SystemEmailParts,
  kind: Kind,
  write: (claimed: readonly Queued[Kind][]) => Promise<readonly SystemEmail[]>,
): Promise<boolean> {
  const { db, log } = parts
  const servers = await parts.servers.serversOfInstallation(kind, parts.settings.mailFrom.email)
  if (servers?.every((server) => server.state().kind === 'down')) return false
  const claimed = await claimDue(parts, kind)
  if (claimed.length === 0) return false
  const writeOwn = async (own: readonly Queued[Kind][]) => {
    const emails = await write(own)
    const written = new Set(emails.map(({ id }) => id))
    await deleteEmails(
      db.statement,
      kind,
      own.filter(({ id }) => !written.has(id)),
    )
    return emails
  }
  const emails = await perOrganization(db, claimed, writeOwn, (_, error) => {
    log.warn({ err: error, kind }, 'Emails to users are sent later')
  })
  await sendEmails(parts, servers, kind, emails)
  return claimed.length > emails.length
}

function claimDue<Kind extends EmailKind>({ db }: SystemEmailParts, kind: Kind): Promise<readonly Queued[Kind][]> {
  return new Claims(db).claim({
    claim: (writer, organizationId) =>
      claimEmails(writer, kind, organizationId, {
        limit: organizationId ? batchMax / organizationsMax : batchMax,
        leaseSeconds: leaseSeconds[kind],
      }),
    findDue: (ids) => selectDueOrganizations(db, kind, ids, organizationsMax),
  })
}

/** The emails were sent, or are kept in the inbox. */
async function deleteSent({ db, log }: SystemEmailParts, kind: EmailKind, keys: readonly EmailKey[]): Promise<void> {
  const remove = async (own: readonly EmailKey[]) => {
    await deleteEmails(db.statement, kind, own)
    return []
  }
  await perOrganization(db, keys, remove, (own, error) => {
    log.warn({ err: error, emails: own.map(({ id }) => id) }, 'Emails may be sent twice')
  })
}

/**
 * Sends through the relay, or into the built-in inbox if there is none or the account is that of the demo. At least once: a
 * crash between the relay's 250 and our commit sends an email again, with the same Message-ID. An email for which the relay
 * takes long is finished in the background. The emails are neither tracked nor counted in metrics.
 */
async function sendEmails(
  parts: SystemEmailParts,
  servers: readonly OpenServer[] | undefined,
  kind: EmailKind,
  emails: readonly SystemEmail[],
): Promise<void> {
  const { db } = parts
  const kept = servers ? emails.filter(({ email }) => isDemoAddress(email)) : emails
  if (kept.length > 0) await keepInInbox(parts, kind, kept)
  if (!servers || kept.length === emails.length) return
  const leaving = emails.filter((email) => !kept.includes(email))
  const toRetry = new Set<string>()
  await Promise.all(
    composeAll(parts, kind, leaving).map(async ({ email, outgoing }) => {
      const sending = send(parts, servers, kind, email, outgoing)
      const isDone = await within(sendWithinMs, sending)
      if (!isDone) toRetry.add(email.id)
      if (isDone !== undefined) return
      void sending
        .then((isDoneLate) => (isDoneLate ? deleteSent(parts, kind, [email]) : undefined))
        .catch((error: unknown) => parts.log.warn({ err: error, email: email.id }, 'An email may be sent twice'))
      await postponeEmail(db.statement, kind, email, slowReplySeconds)
    }),
  )
  await deleteSent(
    parts,
    kind,
    leaving.filter(({ id }) => !toRetry.has(id)),
  )
}

async function keepInInbox(parts: SystemEmailParts, kind: EmailKind, emails: readonly SystemEmail[]): Promise<void> {
  const { db, log } = parts
  const keep = async (own: readonly SystemEmail[]) => {
    await keepOwnInInbox(parts, kind, own)
    return []
  }
  await perOrganization(db, emails, keep, (_, error) => {
    log.warn({ err: error, kind }, 'Emails to users are sent later')
  })
}

async function keepOwnInInbox(parts: SystemEmailParts, kind: EmailKind, emails: readonly SystemEmail[]): Promise<void> {
  const inbox = composeAll(parts, kind, emails).map(({ email, outgoing }) => ({
    organizationId: email.organizationId,
    messageId: email.id,
    ...outgoing,
    ownersOnly: kind === 'account',
  }))
  await parts.db.begin(async (tx) => {
    await insertIntoInbox(tx, inbox)
    await deleteEmails(tx, kind, emails)
  })
}

const composeAll = (parts: SystemEmailParts, kind: EmailKind, emails: readonly SystemEmail[]) =>
  emails.flatMap((email) => {
    const outgoing = tryToCompose(parts, kind, email)
    return outgoing ? [{ email, outgoing }] : []
  })

/** Returns false if the email has to be tried again. */
async function send(
  { dkim, log, senders, settings }: SystemEmailParts,
  servers: readonly OpenServer[],
  kind: EmailKind,
  email: SystemEmail,
  { raw, sender, recipient }: ComposedEmail,
): Promise<boolean> {
  const mail = {
    envelope: { from: sender, to: recipient },
    raw: dkim && senders.signs(settings.mailFrom.email) ? dkim.sign(raw) : raw,
  }
  const carried = await sendThrough(servers, mail)
  if (carried?.kind !== 'carried') return false
  const { outcome } = carried
  switch (outcome.kind) {
    case 'accepted':
      return true
    case 'refused':
      log.warn({ email: email.id, kind, reply: outcome.reply }, 'An email to a user was refused')
      return true
    case 'deferred':
    case 'interrupted':
    case 'unreachable':
    case 'withdrawn':
      return false
  }
}

/** Returns undefined if the address cannot be used in an email. It must not prevent the emails to others. */
function tryToCompose(
  { log, settings }: SystemEmailParts,
  kind: EmailKind,
  email: SystemEmail,
): ComposedEmail | undefined {
  try {
    return composeEmail(kind, email, settings)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ email: email.id, kind, problem: error.message }, 'An email to a user cannot be composed')
    return undefined
  }
}

/** `Auto-Submitted` and `X-Auto-Response-Suppress` prevent automatic replies. */
function composeEmail(kind: EmailKind, email: SystemEmail, { mailFrom }: EmailSettings): ComposedEmail {
  const { subject } = email.content
  const { raw, recipient } = compose({
    id: email.id,
    domain: mailFrom.email.slice(mailFrom.email.lastIndexOf('@') + 1),
    from: mailFrom,
    to: { email: email.email },
    subject,
    ...renderEmail(email.content),
    date: email.createdAt,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Waxwing-Mail': kind,
    },
  })
  return { raw, sender: mailFrom.email, recipient, subject }
}
