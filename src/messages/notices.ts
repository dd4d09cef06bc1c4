import type { Tx } from '../db/db.ts'
import { newId, type OrganizationId, type WebhookId } from '../ids.ts'
import { insertNotice, insertNoticeMails, selectOwnerIds, trimNotices } from './notices.sql.ts'

/** Notices are for looking back a little, not an archive. */
const keptPerOrganization = 200

export type PausedWebhook = { organizationId: OrganizationId; id: WebhookId; name: string; failingSince: Date }

/** Written with the pause itself, with a mail for each owner that then goes out on its own. */
export async function recordPausedWebhook(tx: Tx, webhook: PausedWebhook): Promise<void> {
  const { organizationId } = webhook
  const since = webhook.failingSince.toISOString().slice(0, 16).replace('T', ' ')
  const notice = {
    organizationId,
    id: newId('ntc'),
    kind: 'webhook_paused' as const,
    title: `The webhook “${webhook.name}” was paused`,
    detail: `Every delivery to it has failed since ${since} UTC, so nothing is sent to it any more. Once its endpoint works again, resume it and replay what it missed.`,
    webhookId: webhook.id,
  }
  await insertNotice(tx, notice)
  await trimNotices(tx, organizationId, keptPerOrganization)
  const owners = await selectOwnerIds(tx, organizationId)
  await insertNoticeMails(
    tx,
    notice,
    owners.map((userId) => ({ id: newId('msg'), userId })),
  )
}
