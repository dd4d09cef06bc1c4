import type { AlertKind } from '../../accounts/accounts.ts'
import type { Tx } from '../../platform/db/db.ts'
import {
  type BroadcastId,
  type EventExportId,
  type ImportId,
  newId,
  type OrganizationId,
  toText,
  type UserId,
  type WebhookId,
} from '../../platform/values/ids.ts'
import { addNoticeEmails } from '../../sending/sending.ts'
import {
  insertNotice,
  type Notice,
  type NoticeKind,
  type NoticeTarget,
  selectRecipients,
  trimNotices,
} from './notices.sql.ts'

/** Notices are recent news, not an archive. Open ones are kept as well. */
const keptPerOrganization = 200

/** The switch in the profile that turns the email about a notice off. Null: it is always sent. */
const alertOf: Record<NoticeKind, AlertKind | null> = {
  webhook_paused: 'webhooks',
  webhook_failing: 'webhooks',
  export_paused: 'webhooks',
  relay_down: 'sending',
  bounce_rate: 'deliverability',
  complaint_rate: 'deliverability',
  import_finished: 'imports',
  broadcast_paused: 'deliverability',
  broadcast_expired: 'sending',
  domain_warning: 'sending',
  mail_server_failing: 'sending',
  mail_server_changed: null,
  domain_unverified: 'sending',
  emails_given_up: 'sending',
  deliveries_given_up: 'webhooks',
  system_emails_given_up: 'sending',
}

export type PausedWebhook = { organizationId: OrganizationId; id: WebhookId; name: string; failingSince: Date }
export type FailingWebhook = PausedWebhook & { lastReason: string | null }

/** Written in the transaction that pauses the webhook. Each owner gets an email, which is sent separately. */
export function recordPausedWebhook(tx: Tx, { organizationId, id, name, failingSince }: PausedWebhook): Promise<void> {
  return recordNotice(tx, {
    organizationId,
    kind: 'webhook_paused',
    title: `The webhook “${name}” was paused`,
    detail: `Every delivery has failed since ${utc(failingSince)}, so new events are no longer sent to it. Once the endpoint works again, resume the webhook and replay the deliveries it missed.`,
    webhookId: id,
  })
}

/** Written in the transaction that marks the failure as reported. */
export function recordFailingWebhook(tx: Tx, webhook: FailingWebhook): Promise<void> {
  const lastReason = webhook.lastReason ? ` The last result was: ${webhook.lastReason}.` : ''
  return recordNotice(tx, {
    organizationId: webhook.organizationId,
    kind: 'webhook_failing',
    title: `The webhook “${webhook.name}” is failing`,
    detail: `Deliveries have been failing since ${utc(webhook.failingSince)}.${lastReason} Check the endpoint; once it works again you can replay the deliveries it missed. If every delivery fails for 3 days, the webhook is paused.`,
    webhookId: webhook.id,
  })
}

export type PausedExport = { organizationId: OrganizationId; id: EventExportId; name: string; reason: string }

/** Written in the transaction that pauses the export. */
export function recordPausedExport(tx: Tx, { organizationId, id, name, reason }: PausedExport): Promise<void> {
  return recordNotice(tx, {
    organizationId,
    kind: 'export_paused',
    title: `The event export “${name}” was paused`,
    detail: `Every upload has failed for 3 days. The last result was: ${reason}. Correct its settings and resume it: it continues where it stopped.`,
    path: `/developers/exports/${toText('exp', id)}`,
    targetId: id,
  })
}

export type FinishedImport = {
  organizationId: OrganizationId
  id: ImportId
  fileName: string
  /** The user who started it. Null for imports from before this was recorded. */
  createdBy: UserId | null
  /** Why it failed, or null. */
  fault: string | null
  created: number
  updated: number
  rejected: number
}

/** Written in the transaction that finishes the import. The user who started it gets an email. */
export async function recordFinishedImport(tx: Tx, done: FinishedImport): Promise<void> {
  if (!done.createdBy) return
  const counts = `${count(done.created, 'contact')} created, ${done.updated.toLocaleString('en')} updated, ${count(done.rejected, 'row')} rejected.`
  await recordNotice(
    tx,
    {
      organizationId: done.organizationId,
      kind: 'import_finished',
      title: `The import of “${done.fileName}” ${done.fault ? 'failed' : 'has finished'}`,
      detail: done.fault ? `${done.fault} Until then: ${counts}` : counts,
      path: `/contacts/imports/${toText('imp', done.id)}`,
      targetId: done.id,
    },
    done.createdBy,
  )
}

export type StoppedBroadcast = { organizationId: OrganizationId; id: BroadcastId; name: string; detail: string | null }

/** Written after the transaction that pauses the broadcast. */
export function recordPausedBroadcast(tx: Tx, { organizationId, id, name, detail }: StoppedBroadcast): Promise<void> {
  return recordNotice(tx, {
    organizationId,
    kind: 'broadcast_paused',
    title: `The broadcast “${name}” was paused`,
    detail: detail ?? '',
    path: `/broadcasts/${toText('brc', id)}`,
    targetId: id,
  })
}

/** Written in the transaction in which the broadcast expires. */
export function recordExpiredBroadcast(tx: Tx, { organizationId, id, name, detail }: StoppedBroadcast): Promise<void> {
  return recordNotice(tx, {
    organizationId,
    kind: 'broadcast_expired',
    title: `The broadcast “${name}” was not sent`,
    detail: `${detail ?? ''} Nobody received it. Duplicate it to send it at another time.`.trim(),
    path: `/broadcasts/${toText('brc', id)}`,
    targetId: id,
  })
}

type NewNotice = Pick<Notice, 'organizationId' | 'kind' | 'title' | 'detail'> & {
  webhookId?: WebhookId
  targetId?: NoticeTarget
  path?: string
}

/** Stores a notice and an email to each owner, or to one user, unless they switched this kind of alert off. */
export async function recordNotice(tx: Tx, content: NewNotice, onlyTo?: UserId): Promise<void> {
  const notice = { webhookId: null, targetId: null, path: null, ...content, id: newId('ntc') }
  await insertNotice(tx, notice)
  await trimNotices(tx, notice.organizationId, keptPerOrganization)
  const recipients = await selectRecipients(tx, notice.organizationId, alertOf[notice.kind], onlyTo)
  addNoticeEmails(tx, notice.organizationId, notice.id, recipients)
}

export const utc = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const count = (number: number, noun: string) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
