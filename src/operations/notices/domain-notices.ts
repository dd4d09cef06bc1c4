import type { Domain, DomainStatus } from '../../delivery/delivery.ts'
import { announce } from '../../events/events.ts'
import type { Tx } from '../../platform/db/db.ts'
import { toText } from '../../platform/values/ids.ts'
import { recordNotice, utc } from './notices.ts'

/** Informs webhooks, and the owners if a required record has vanished. Written in the transaction of the change. */
export async function recordDomainChange(tx: Tx, domain: Domain, previous: DomainStatus): Promise<void> {
  const { organizationId, id, name, status, failingSince } = domain
  await announce(tx, {
    organizationId,
    eventName: 'domainStatusChanged',
    flowId: null,
    data: { id: toText('dom', id), name, status },
  })
  const path = `/sending/domains/${toText('dom', id)}`
  if (status === 'warning')
    await recordNotice(tx, {
      organizationId,
      kind: 'domain_warning',
      title: `A DNS record of ${name} has vanished`,
      detail: `Without it, receivers cannot check that your emails are from you. Emails from ${name} are still sent and signed for 24 hours. Publish the record again to keep the domain verified.`,
      path,
      targetId: id,
    })
  if (status === 'unverified' && previous === 'warning')
    await recordNotice(tx, {
      organizationId,
      kind: 'domain_unverified',
      title: `${name} is no longer verified`,
      detail: `A required DNS record has been missing since ${utc(failingSince!)}. Emails from ${name} are no longer signed for it. Publish the record again; the domain is then verified within minutes.`,
      path,
      targetId: id,
    })
}
