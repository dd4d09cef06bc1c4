import type { Tx } from '../db/db.ts'
import type { MailServerChange } from '../mail-servers/states.ts'
import { toText } from '../values/ids.ts'
import { announce } from '../webhooks/announce.ts'
import { recordNotice, utc } from './notices.ts'

/** Informs webhooks, and the owners if it fails. Written in the transaction of the change. */
export async function recordMailServerChange(tx: Tx, change: MailServerChange): Promise<void> {
  const { organizationId, id, name, host, status } = change
  const isFailing = status === 'failing'
  const data = { id: toText('mse', id), name, host, reason: isFailing ? change.reason : null, since: change.since }
  await announce(tx, {
    organizationId,
    eventName: isFailing ? 'mailServerFailing' : 'mailServerRecovered',
    flowId: null,
    data: { ...data, since: data.since.toISOString() },
  })
  if (!isFailing) return
  await recordNotice(tx, {
    organizationId,
    kind: 'mail_server_failing',
    title: `The mail server ${name} does not accept email`,
    detail: `Since ${utc(change.since)}: ${change.reason}. Emails go through your other mail servers for them. If there is none, they stay queued and are sent as soon as it works again.`,
    path: `/settings/mail-servers/${toText('mse', id)}`,
  })
}
