import type { Transport } from '@waxwing/smtp-client'
import type { Db } from '../db/db.ts'
import { escapeHtml } from '../flows/html-entities.ts'
import { insertIntoInbox } from '../inbox/inbox.ts'
import type { DkimSigner } from '../mail/dkim.ts'
import type { SenderPolicy } from '../mail/sender-policy.ts'
import type { MailSettings, OutgoingMail } from '../messages/outgoing.ts'
import { compose } from '../mime/compose.ts'
import type { Log } from '../runtime/log.ts'
import { within } from '../runtime/within.ts'
import { toText } from '../values/ids.ts'
import { claimNoticeMails, deleteNoticeMails, findNoticeMails, type NoticeMail } from './notices.sql.ts'

const batchMax = 50
/** Also the wait before another try. */
const leaseSeconds = 300
const tryForDays = 3
/** Stopping waits for the current run, so a hanging relay must not block it for long. */
const sendWithinMs = 8_000

export type NoticeMailParts = {
  db: Db
  log: Log
  settings: MailSettings
  relay: Transport | undefined
  dkim: DkimSigner | undefined
  senders: SenderPolicy
}

/**
 * Sends what owners should know: through the relay, or into the built-in inbox when there is none. At least once: a
 * crash between the relay's 250 and our commit sends a mail again, with the same Message-ID.
 */
export async function mailNotices(parts: NoticeMailParts): Promise<void> {
  const { db, relay } = parts
  if (relay?.state().kind === 'down') return
  const claimed = await claimNoticeMails(db.statement, { limit: batchMax, leaseSeconds })
  if (claimed.length === 0) return
  const mails = await findNoticeMails(db, claimed, tryForDays)
  if (!relay) {
    await db.begin(async (tx) => {
      const inbox = mails.map((mail) => ({
        organizationId: mail.organizationId,
        messageId: mail.id,
        ...makeNoticeMail(mail, parts.settings),
      }))
      await insertIntoInbox(tx, inbox)
      await deleteNoticeMails(tx, claimed)
    })
    return
  }
  const toTryAgain = new Set<string>()
  await Promise.all(
    mails.map(async (mail) => {
      if (!(await send(parts, relay, mail))) toTryAgain.add(mail.id)
    }),
  )
  await deleteNoticeMails(
    db.statement,
    claimed.filter(({ id }) => !toTryAgain.has(id)),
  )
}

/** Whether that was the end of it. */
async function send(parts: NoticeMailParts, relay: Transport, mail: NoticeMail): Promise<boolean> {
  const { dkim, log, senders, settings } = parts
  const { raw, sender, recipient } = makeNoticeMail(mail, settings)
  const outcome = await within(
    sendWithinMs,
    relay.send({
      envelope: { from: sender, to: recipient },
      raw: dkim && senders.signs(settings.mailFrom.email) ? dkim.sign(raw) : raw,
    }),
  )
  switch (outcome?.kind) {
    case 'accepted':
      return true
    case 'refused':
      log.warn({ mail: mail.id, reply: outcome.reply }, 'A notice to an owner was refused')
      return true
    case 'deferred':
    case 'interrupted':
    case 'unreachable':
    case undefined:
      return false
  }
}

function makeNoticeMail(notice: NoticeMail, { baseUrl, mailFrom }: MailSettings): OutgoingMail {
  const url = notice.webhookId ? `${baseUrl}/developers/webhooks/${toText('whk', notice.webhookId)}` : baseUrl
  const reason = `You receive this email because you are an owner of ${notice.organizationName}.`
  const html = [
    `<p>${escapeHtml(notice.title)}.</p>`,
    `<p>${escapeHtml(notice.detail)}</p>`,
    `<p><a href="${escapeHtml(url)}">${escapeHtml(url)}</a></p>`,
    `<p>${escapeHtml(reason)}</p>`,
  ].join('\n')
  const { raw, recipient } = compose({
    id: notice.id,
    domain: mailFrom.email.slice(mailFrom.email.lastIndexOf('@') + 1),
    from: mailFrom,
    to: { email: notice.email },
    subject: notice.title,
    html,
    text: [`${notice.title}.`, notice.detail, url, reason].join('\n\n'),
    date: notice.createdAt,
    headers: { 'Auto-Submitted': 'auto-generated' },
  })
  return { raw, sender: mailFrom.email, recipient, subject: notice.title }
}
