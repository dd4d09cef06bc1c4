import type { Tx } from '../db/db.ts'
import { newId, type OrganizationId, type WebhookId } from '../values/ids.ts'
import { insertNotice, insertNoticeMails, type Notice, selectOwnerIds, trimNotices } from './notices.sql.ts'

/** Notices are recent news, not an archive. */
const keptPerOrganization = 200

export type PausedWebhook = { organizationId: OrganizationId; id: WebhookId; name: string; failingSince: Date }
export type FailingWebhook = PausedWebhook & { lastReason: string | null }

/** Written in the transaction that pauses the webhook. Each owner gets an email, which is sent separately. */
export function recordPausedWebhook(tx: Tx, webhook: PausedWebhook): Promise<void> {
  return record(tx, webhook, {
    kind: 'webhook_paused',
    title: `The webhook “${webhook.name}” was paused`,
    detail: `Every delivery has failed since ${utc(webhook.failingSince)}, so new events are no longer sent to it. Once the endpoint works again, resume the webhook and replay the deliveries it missed.`,
  })
}

/** Written in the transaction that marks the failure as reported. */
export function recordFailingWebhook(tx: Tx, webhook: FailingWebhook): Promise<void> {
  const lastReason = webhook.lastReason ? ` The last result was: ${webhook.lastReason}.` : ''
  return record(tx, webhook, {
    kind: 'webhook_failing',
    title: `The webhook “${webhook.name}” is failing`,
    detail: `Deliveries have been failing since ${utc(webhook.failingSince)}.${lastReason} Check the endpoint; once it works again you can replay the deliveries it missed. If every delivery fails for 3 days, the webhook is paused.`,
  })
}

async function record(
  tx: Tx,
  { organizationId, id: webhookId }: PausedWebhook,
  content: Pick<Notice, 'kind' | 'title' | 'detail'>,
): Promise<void> {
  const notice = { organizationId, id: newId('ntc'), webhookId, path: null, ...content }
  await insertNotice(tx, notice)
  await trimNotices(tx, organizationId, keptPerOrganization)
  const owners = await selectOwnerIds(tx, organizationId)
  const mails = owners.map((userId) => ({ id: newId('msg'), userId }))
  await insertNoticeMails(tx, notice, mails)
}

const utc = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
