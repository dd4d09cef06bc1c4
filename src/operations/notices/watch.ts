import type { Transport } from '@waxwing/smtp-client'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { minuteMs } from '../../platform/values/durations.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { NoticeKind } from './notices.sql.ts'
import { recordNotice, utc } from './notices.ts'
import { type DayCounts, findOperator, hasNoticeSince, lockForNotice, selectRecentCounts } from './watch.sql.ts'

/** Long enough for the restart of a mail server. */
const outageMinutesMin = 5

const rateHours = 24
/** With fewer emails, a rate is not meaningful. */
const sentMin = 100
/** The rates at which mailbox providers and relays start to block a sender. */
const bounceRateMax = 0.05
const complaintRateMax = 0.001
/** One angry recipient of a small mailing is not a pattern. */
const complaintsMin = 3

/**
 * Reports a mail server that has been unreachable for some minutes to the owners of the operating organization, once
 * per outage. Their email waits like all others and arrives when the server is reachable again.
 */
export async function reportRelayOutage(
  { db, log, relay }: { db: Db; log: Log; relay: Pick<Transport, 'state'> | undefined },
  now = Date.now(),
): Promise<void> {
  const state = relay?.state()
  if (state?.kind !== 'down' || now - state.since.getTime() < outageMinutesMin * minuteMs) return
  const { since, reason } = state
  const isNew = await db.begin(async (tx) => {
    const organizationId = await findOperator(tx)
    if (!organizationId || !(await lockForNotice(tx, organizationId))) return false
    // Another process may have reported the same outage.
    if (await hasNoticeSince(tx, organizationId, 'relay_down', since)) return false
    await recordNotice(tx, {
      organizationId,
      kind: 'relay_down',
      title: 'The mail server can’t be reached',
      detail: `No email has been sent since ${utc(since)}: ${reason}. Emails stay queued and are sent as soon as the connection works. Emails about this, including this one, use the same server, so they arrive when it is reachable again.`,
      path: '/sending/setup',
    })
    return true
  })
  if (isNew) log.warn({ since }, 'Reported to the owners that the relay is unreachable')
}

/** Reports organizations whose bounces or complaints of the last day exceed the limits, once per day and kind. */
export async function reportHighRates({ db, log }: { db: Db; log: Log }, now = Date.now()): Promise<void> {
  const since = new Date(now - rateHours * 60 * minuteMs)
  for (const counts of await selectRecentCounts(db, rateHours, sentMin)) {
    for (const alert of alertsFor(counts)) {
      const isNew = await reportOnce(db, counts.organizationId, alert, since)
      if (isNew)
        log.warn({ organization: counts.organizationId, kind: alert.kind }, 'Reported a high rate to the owners')
    }
  }
}

export type Alert = { kind: NoticeKind; title: string; detail: string; path: string }

function alertsFor({ sent, bounced, complained }: DayCounts): Alert[] {
  const alerts: Alert[] = []
  const path = '/activity'
  const numbers = (part: number) => `${part.toLocaleString('en')} of ${sent.toLocaleString('en')} emails`
  if (bounced / sent > bounceRateMax)
    alerts.push({
      kind: 'bounce_rate',
      title: `${percent(bounced / sent)} of your emails bounce`,
      detail: `${numbers(bounced)} of the last 24 hours were sent to addresses that do not exist. Mailbox providers block senders above 5%. Remove old or bought addresses, and confirm new ones before you write to them. Addresses that bounced are suppressed automatically.`,
      path,
    })
  if (complained >= complaintsMin && complained / sent > complaintRateMax)
    alerts.push({
      kind: 'complaint_rate',
      title: `Your complaint rate is ${percent(complained / sent)}`,
      detail: `${numbers(complained)} of the last 24 hours were reported as spam by their recipients. Mailbox providers block senders above 0.1%. Write only to people who asked for it, and make it easy to unsubscribe. Recipients who complained are suppressed automatically.`,
      path,
    })
  return alerts
}

/** Resolves to false if it was reported since that time, or if the organization was deleted. */
export async function reportOnce(db: Db, organizationId: OrganizationId, alert: Alert, since: Date): Promise<boolean> {
  return db.begin(async (tx) => {
    if (!(await lockForNotice(tx, organizationId))) return false
    if (await hasNoticeSince(tx, organizationId, alert.kind, since)) return false
    await recordNotice(tx, { organizationId, ...alert })
    return true
  })
}

const percent = (rate: number) => `${(rate * 100).toLocaleString('en', { maximumFractionDigits: 1 })}%`
