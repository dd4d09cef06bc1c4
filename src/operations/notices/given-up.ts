import type { Db } from '../../platform/db/db.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { dayMs, minuteMs } from '../../platform/values/durations.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { findOperator } from './watch.sql.ts'
import { type Alert, reportOnce } from './watch.ts'

const alerts = {
  emails: {
    kind: 'emails_given_up',
    title: 'Emails were given up after internal errors',
    detail:
      'Some emails could not be processed, or their results could not be recorded, in several tries. They are not tried again. Those whose results could not be recorded may have been sent. Each message shows its reason, and the log of the server the cause.',
    path: '/messages',
  },
  deliveries: {
    kind: 'deliveries_given_up',
    title: 'Webhook deliveries were given up after internal errors',
    detail:
      'Some deliveries could not be processed, or their results could not be recorded, in several tries. They are not tried again. Each delivery shows its reason, and the log of the server the cause. Once it is solved, you can replay them.',
    path: '/developers/webhooks',
  },
  systemEmails: {
    kind: 'system_emails_given_up',
    title: 'Emails to users were given up after internal errors',
    detail:
      'Some emails to users, such as invitations and password resets, could not be processed, or their results could not be recorded, in several tries. They are not tried again. Those whose results could not be recorded may have been sent. The log of the server shows the cause.',
    path: '/sending/setup',
  },
} satisfies Record<string, Alert>

/** A process tries to report the same at most this often, however many jobs are given up. */
const triedEveryMs = 10 * minuteMs
const keysMax = 10_000

/**
 * Reports to the owners that jobs were given up because of internal errors, once per day and kind. Never rejects: what
 * prevents the record of a job may also prevent notices.
 */
export class GivenUpNotices {
  readonly #parts: { db: Db; log: Log }
  readonly #tried = createCache<string, true>(keysMax, { ttl: triedEveryMs })
  /** One is written at a time, since many organizations may be affected at once. */
  #written: Promise<void> = Promise.resolve()

  constructor({ db, log }: { db: Db; log: Log }) {
    this.#parts = { db, log }
  }

  emails(organizationId: OrganizationId): Promise<void> {
    return this.#add(alerts.emails, organizationId)
  }

  deliveries(organizationId: OrganizationId): Promise<void> {
    return this.#add(alerts.deliveries, organizationId)
  }

  /** Reports them to the owners of the organization that operates the installation. */
  systemEmails(): Promise<void> {
    return this.#add(alerts.systemEmails)
  }

  #add(alert: Alert, organizationId?: OrganizationId): Promise<void> {
    const key = `${alert.kind} ${organizationId}`
    if (this.#tried.has(key)) return this.#written
    this.#tried.set(key, true)
    const { db, log } = this.#parts
    this.#written = this.#written
      .then(async () => {
        const id = organizationId ?? (await findOperator(db))
        if (id) await reportOnce(db, id, alert, new Date(Date.now() - dayMs))
      })
      .catch((error) => log.warn({ err: error, kind: alert.kind }, 'Reporting jobs that were given up failed'))
    return this.#written
  }
}
