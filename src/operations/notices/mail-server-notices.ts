import type { ConnectionChange, MailServer, MailServerChange } from '../../delivery/delivery.ts'
import { announce } from '../../events/events.ts'
import type { Tx } from '../../platform/db/db.ts'
import { toText } from '../../platform/values/ids.ts'
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
    detail: `Since ${utc(change.since)}: ${change.reason}. Your other mail servers carry its email meanwhile. Without one, emails wait until it works again.`,
    path: `/sending/mail-servers/${toText('mse', id)}`,
    targetId: id,
  })
}

/**
 * Informs the owners that email takes another way, or that its credentials are others. Written in the transaction of the change,
 * and sent to all owners, so that none of them can make such a change unnoticed.
 */
export async function recordConnectionChange(tx: Tx, { change, before, after }: ConnectionChange): Promise<void> {
  const { organizationId, id, name, isShared } = after
  const by = tx.actor.type === 'user' ? `By ${tx.actor.email}.` : ''
  const shared = isShared
    ? ' It is shared: it carries the emails to users, such as password resets, and email of all organizations that have no mail server for it.'
    : ''
  await recordNotice(tx, {
    organizationId,
    kind: 'mail_server_changed',
    title: `The mail server ${name} was ${titles[change]}`,
    detail: `${by} ${describe(before, after)}${shared} If you did not expect this, check the mail server and who can sign in to your organization.`,
    path: `/sending/mail-servers/${toText('mse', id)}`,
    targetId: id,
  })
}

const titles = { added: 'added', moved: 'changed', shared: 'shared with all organizations' }

function describe(before: MailServer | undefined, after: MailServer): string {
  const place = placeOf(after)
  if (!before || placeOf(before) === place)
    return `It connects to ${place}${before ? ', as before; its credentials or encryption may have changed' : ''}.`
  return `It connects to ${place} instead of ${placeOf(before)}.`
}

const placeOf = ({ host, port, username }: MailServer) => `${host}:${port}${username === null ? '' : ` as ${username}`}`
