import { compose } from '../../content/content.ts'
import { type Carrier, type Carriers, domainOfAddress, sendThrough } from '../../delivery/delivery.ts'
import { perOrganization } from '../../platform/db/cluster/batches.ts'
import { Claims } from '../../platform/db/cluster/claims.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { within } from '../../platform/runtime/within.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { isDemoAddress } from '../../platform/values/simulated-recipients.ts'
import type { EmailSettings, OutgoingEmail } from '../attempts/outgoing.ts'
import { insertIntoInbox } from '../inbox/inbox.ts'
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
  carriers: Carriers
}

/**
 * An email from the service to its users: an account email or a notice. The id is also used in the Message-ID, so that
 * duplicates can be recognized. `Carriers` says which emails are private.
 */
export type SystemEmail = EmailKey & { email: string; createdAt: Date; content: EmailContent; isPrivate: boolean }

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
  if (await parts.carriers.areDown()) return false
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
  await sendEmails(parts, kind, emails)
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

type Leaving = { email: SystemEmail; carrier: Carrier }

/**
 * Sends through the servers that may carry the emails. Those for which there are none, and those to accounts of the demo, are kept
 * in the built-in inbox. At least once: a crash between the server's 250 and our commit sends an email again, with the same
 * Message-ID. An email for which the server takes long is finished in the background. The emails are neither tracked nor counted
 * in metrics.
 */
async function sendEmails(parts: SystemEmailParts, kind: EmailKind, emails: readonly SystemEmail[]): Promise<void> {
  const { db, log } = parts
  const findCarriers = (own: readonly SystemEmail[]) =>
    Promise.all(own.map(async (email) => ({ email, carrier: await carrierOf(parts, email) })))
  const found = await perOrganization(db, emails, findCarriers, (_, error) => {
    log.warn({ err: error, kind }, 'Emails to users are sent later')
  })
  const kept = found.flatMap(({ email, carrier }) => (carrier ? [] : [email]))
  if (kept.length > 0) await keepInInbox(parts, kind, kept)
  const leaving = found.flatMap(({ email, carrier }) => (carrier ? [{ email, carrier }] : []))
  if (leaving.length > 0) await sendLeaving(parts, kind, leaving)
}

const carrierOf = ({ carriers }: SystemEmailParts, email: SystemEmail): Promise<Carrier | undefined> | undefined =>
  isDemoAddress(email.email) ? undefined : carriers.find(email)

async function sendLeaving(parts: SystemEmailParts, kind: EmailKind, leaving: readonly Leaving[]): Promise<void> {
  const toRetry = new Set<string>()
  await Promise.all(
    leaving.map(async ({ email, carrier }) => {
      const outgoing = tryToCompose(parts, kind, email, carrier.from)
      if (!outgoing) return
      const sending = send(parts, carrier, kind, email, outgoing)
      const isDone = await within(sendWithinMs, sending)
      if (!isDone) toRetry.add(email.id)
      if (isDone !== undefined) return
      void sending
        .then((isDoneLate) => (isDoneLate ? deleteSent(parts, kind, [email]) : undefined))
        .catch((error: unknown) => parts.log.warn({ err: error, email: email.id }, 'An email may be sent twice'))
      await postponeEmail(parts.db.statement, kind, email, slowReplySeconds)
    }),
  )
  const done = leaving.flatMap(({ email }) => (toRetry.has(email.id) ? [] : [email]))
  await deleteSent(parts, kind, done)
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
  const inbox = emails.flatMap((email) => {
    const { organizationId, id: messageId } = email
    const outgoing = tryToCompose(parts, kind, email, parts.settings.mailFrom)
    return outgoing ? [{ organizationId, messageId, ...outgoing, ownersOnly: kind === 'account' }] : []
  })
  await parts.db.begin(async (tx) => {
    await insertIntoInbox(tx, inbox)
    await deleteEmails(tx, kind, emails)
  })
}

/** Returns false if the email has to be tried again. */
async function send(
  { log }: SystemEmailParts,
  { servers, signer }: Carrier,
  kind: EmailKind,
  email: SystemEmail,
  { raw, sender, recipient }: ComposedEmail,
): Promise<boolean> {
  const mail = { envelope: { from: sender, to: recipient }, raw: signer ? signer.sign(raw) : raw }
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
  { log }: SystemEmailParts,
  kind: EmailKind,
  email: SystemEmail,
  from: Carrier['from'],
): ComposedEmail | undefined {
  try {
    return composeEmail(kind, email, from)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ email: email.id, kind, problem: error.message }, 'An email to a user cannot be composed')
    return undefined
  }
}

/** `Auto-Submitted` and `X-Auto-Response-Suppress` prevent automatic replies. */
function composeEmail(kind: EmailKind, email: SystemEmail, from: Carrier['from']): ComposedEmail {
  const { subject } = email.content
  const { raw, recipient } = compose({
    id: email.id,
    domain: domainOfAddress(from.email),
    from,
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
  return { raw, sender: from.email, recipient, subject }
}
