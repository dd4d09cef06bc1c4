import { toText } from '../values/ids.ts'
import type { MailContent } from './mail-layout.ts'
import {
  claimNoticeMails,
  deleteNoticeMails,
  findNoticeMails,
  type NoticeMail,
  postponeNoticeMails,
} from './notices.sql.ts'
import { type SystemMail, type SystemMailParts, sendSystemMails } from './system-mail.ts'

const batchMax = 50
/** Also the wait before another attempt. */
const leaseSeconds = 300
const tryForDays = 3

const queue = { finish: deleteNoticeMails, postpone: postponeNoticeMails }

/** Sends the emails about notices. Those that are no longer wanted do not delay the others. */
export async function mailNotices(parts: SystemMailParts): Promise<void> {
  while (await mailBatch(parts));
}

/** Returns whether there may be more, because emails of the batch were not wanted. */
async function mailBatch(parts: SystemMailParts): Promise<boolean> {
  const { db, relay, settings } = parts
  if (relay?.state().kind === 'down') return false
  const claimed = await claimNoticeMails(db.statement, { limit: batchMax, leaseSeconds })
  if (claimed.length === 0) return false
  const found = await findNoticeMails(db, claimed, tryForDays)
  const wanted = new Set(found.map(({ id }) => id))
  const mails = found.map((notice): SystemMail => {
    const { organizationId, id, email, createdAt } = notice
    return { organizationId, id, kind: 'notice', email, createdAt, content: contentOf(notice, settings.baseUrl) }
  })
  await deleteNoticeMails(
    db.statement,
    claimed.filter(({ id }) => !wanted.has(id)),
  )
  await sendSystemMails(parts, mails, queue)
  return claimed.length > mails.length
}

function contentOf(notice: NoticeMail, baseUrl: string): MailContent {
  const path = notice.webhookId ? `/developers/webhooks/${toText('whk', notice.webhookId)}` : (notice.path ?? '')
  return {
    subject: notice.title,
    heading: notice.title,
    paragraphs: [notice.detail],
    action: { label: 'Open in Waxwing', url: `${baseUrl}${path}` },
    footer: `You receive this email because you are a member of ${notice.organizationName}. Choose the alerts you receive at ${baseUrl}/settings/profile.`,
  }
}
