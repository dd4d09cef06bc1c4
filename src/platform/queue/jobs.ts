import type { OrganizationId } from '../values/ids.ts'

/** All kinds of jobs. The area.ts of their area starts a worker for each. */
export type JobKind =
  | 'message.send'
  | 'account.email'
  | 'notice.email'
  | 'webhook.deliver'
  | 'contacts.import'
  | 'contacts.bulk'
  | 'contacts.undo'
  | 'broadcast.run'
  | 'broadcast.step'
  | 'events.export'

export type NewJob = {
  organizationId: OrganizationId
  kind: JobKind
  lane: string
  id: string
  /** Relative to the clock of the database. */
  delayMs?: number
  /** The job is due at this time, or at once if it has passed. Takes precedence over `delayMs`. */
  dueAt?: Date | undefined
  payload?: unknown
  /** The input of the job or its promise, for a worker of this process, which then need not load it. */
  work?: unknown
}
