import type { Tx } from '../../platform/db/db.ts'
import { enqueue } from '../../platform/queue/queue.ts'
import type { WorkerSpec } from '../../platform/queue/worker-spec.ts'
import {
  type MessageId,
  type NoticeId,
  newId,
  type OrganizationId,
  toText,
  type UserId,
} from '../../platform/values/ids.ts'
import type { EmailContent } from './layout.ts'
import { findNoticeEmails, type NoticeEmail } from './notice-emails.sql.ts'
import {
  type SystemEmail,
  type SystemEmailParts,
  systemEmailJob,
  systemEmailKind,
  systemEmailLane,
} from './system-email.job.ts'

const tryForDays = 3

type Payload = { noticeId: NoticeId; userId: UserId }

/** Adds an email about a notice for each of the users, in the transaction of the notice. */
export const addNoticeEmails = (tx: Tx, organizationId: OrganizationId, noticeId: NoticeId, userIds: UserId[]): void =>
  enqueue(
    tx,
    userIds.map((userId) => ({
      organizationId,
      id: newId('msg'),
      kind: systemEmailKind.notice,
      lane: systemEmailLane,
      payload: { noticeId, userId } satisfies Payload,
    })),
  )

/** Emails about notices that are old, or to users whom they do not concern any more, are discarded. */
export const noticeEmailJob = (parts: SystemEmailParts): WorkerSpec<SystemEmail> =>
  systemEmailJob(parts, 'notice', async (claims) => {
    const keys = claims.map(({ organizationId, id, payload }) => ({
      ...{ organizationId, id: id as MessageId },
      ...(payload as Payload),
    }))
    const wanted = new Map(
      (await findNoticeEmails(parts.db, keys, tryForDays)).map((notice): [string, NoticeEmail] => [notice.id, notice]),
    )
    return claims.map(({ id }) => {
      const notice = wanted.get(id)
      return (
        notice && {
          ...notice,
          content: contentOf(notice, parts.settings.baseUrl),
          // A member who moves a mail server must not be the one who passes the email about it on.
          isPrivate: notice.kind === 'mail_server_changed',
        }
      )
    })
  })

function contentOf(notice: NoticeEmail, baseUrl: string): EmailContent {
  const path = notice.webhookId ? `/developers/webhooks/${toText('whk', notice.webhookId)}` : (notice.path ?? '')
  return {
    subject: notice.title,
    heading: notice.title,
    paragraphs: [notice.detail],
    action: { label: 'Open in Waxwing', url: `${baseUrl}${path}` },
    footer: `You receive this email because you are a member of ${notice.organizationName}. Choose the alerts you receive at ${baseUrl}/settings/profile.`,
  }
}
