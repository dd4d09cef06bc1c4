import type { Transport } from '@waxwing/smtp-client'
import type { Db, Writer } from '../db/db.ts'
import { insertIntoInbox } from '../inbox/inbox.ts'
import type { DkimSigner } from '../mail/dkim.ts'
import type { SenderPolicy } from '../mail/sender-policy.ts'
import type { MailSettings, OutgoingMail } from '../messages/outgoing.ts'
import { compose } from '../mime/compose.ts'
import type { Log } from '../runtime/log.ts'
import { within } from '../runtime/within.ts'
import { Refusal } from '../values/errors.ts'
import type { MessageId, OrganizationId } from '../values/ids.ts'
import { type MailContent, renderMail } from './mail-layout.ts'

/** Neither stopping nor the next emails wait longer for a slow relay. */
const sendWithinMs = 8_000
/** The relay may take five minutes for its last reply. Until then, another attempt could send the email twice. */
const slowReplySeconds = 360

export type SystemMailParts = {
  db: Db
  log: Log
  settings: MailSettings
  relay: Transport | undefined
  dkim: DkimSigner | undefined
  senders: SenderPolicy
}

/** An email by the service to its users: an account email, or a notice about something that happened. */
export type SystemMail = {
  organizationId: OrganizationId
  /** Also used in the Message-ID, so that duplicates can be recognized. */
  id: MessageId
  kind: 'account' | 'notice'
  email: string
  createdAt: Date
  content: MailContent
}

type MailKey = Pick<SystemMail, 'organizationId' | 'id'>

export type SystemMailQueue = {
  /** Deletes emails that need no further attempt. */
  finish(db: Writer, keys: MailKey[]): Promise<void>
  postpone(db: Writer, keys: MailKey[], seconds: number): Promise<void>
}

/**
 * Sends through the relay, or into the built-in inbox if there is none. At least once: a crash between the relay's 250
 * and our commit sends an email again, with the same Message-ID. An email for which the relay takes long is finished in
 * the background. The emails are neither tracked nor counted in metrics.
 */
export async function sendSystemMails(
  parts: SystemMailParts,
  mails: SystemMail[],
  { finish, postpone }: SystemMailQueue,
): Promise<void> {
  const { db, relay } = parts
  const composed = mails.flatMap((mail) => {
    const outgoing = tryToCompose(parts, mail)
    return outgoing ? [{ mail, outgoing }] : []
  })
  if (!relay) {
    const inbox = composed.map(({ mail, outgoing }) => ({
      organizationId: mail.organizationId,
      messageId: mail.id,
      ...outgoing,
      ownersOnly: mail.kind === 'account',
    }))
    await db.begin(async (tx) => {
      await insertIntoInbox(tx, inbox)
      await finish(tx, mails)
    })
    return
  }
  const toRetry = new Set<string>()
  await Promise.all(
    composed.map(async ({ mail, outgoing }) => {
      const sending = send(parts, relay, mail, outgoing)
      const isDone = await within(sendWithinMs, sending)
      if (!isDone) toRetry.add(mail.id)
      if (isDone !== undefined) return
      void sending
        .then((isDoneLate) => (isDoneLate ? finish(db.statement, [mail]) : undefined))
        .catch((error: unknown) => parts.log.warn({ err: error, mail: mail.id }, 'An email may be sent twice'))
      await postpone(db.statement, [mail], slowReplySeconds)
    }),
  )
  await finish(
    db.statement,
    mails.filter(({ id }) => !toRetry.has(id)),
  )
}

/** Returns false if the email has to be tried again. */
async function send(
  { dkim, log, senders, settings }: SystemMailParts,
  relay: Transport,
  mail: SystemMail,
  { raw, sender, recipient }: OutgoingMail,
): Promise<boolean> {
  const outcome = await relay.send({
    envelope: { from: sender, to: recipient },
    raw: dkim && senders.signs(settings.mailFrom.email) ? dkim.sign(raw) : raw,
  })
  switch (outcome.kind) {
    case 'accepted':
      return true
    case 'refused':
      log.warn({ mail: mail.id, kind: mail.kind, reply: outcome.reply }, 'An email to a user was refused')
      return true
    case 'deferred':
    case 'interrupted':
    case 'unreachable':
      return false
  }
}

/** Returns undefined if the address cannot be used in an email. It must not prevent the emails to others. */
function tryToCompose({ log, settings }: SystemMailParts, mail: SystemMail): OutgoingMail | undefined {
  try {
    return composeSystemMail(mail, settings)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ mail: mail.id, kind: mail.kind, problem: error.message }, 'An email to a user cannot be composed')
    return undefined
  }
}

/** `Auto-Submitted` and `X-Auto-Response-Suppress` prevent automatic replies. */
function composeSystemMail(mail: SystemMail, { mailFrom }: MailSettings): OutgoingMail {
  const { subject } = mail.content
  const { raw, recipient } = compose({
    id: mail.id,
    domain: mailFrom.email.slice(mailFrom.email.lastIndexOf('@') + 1),
    from: mailFrom,
    to: { email: mail.email },
    subject,
    ...renderMail(mail.content),
    date: mail.createdAt,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Waxwing-Mail': mail.kind,
    },
  })
  return { raw, sender: mailFrom.email, recipient, subject }
}
