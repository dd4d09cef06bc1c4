import type { Db } from '../../platform/db/db.ts'
import { trimInboxes } from './inbox.sql.ts'

export { type InboxRow, inboxHolds, insertIntoInbox, insertQueuedIntoInbox } from './inbox.sql.ts'

/** The value of `messages.relay_reply` for emails that were delivered to the built-in inbox. Exposed as `delivered_to`. */
export const inboxReply = 'kept in the built-in inbox'

/** The inbox shows the newest emails. It is not an archive. */
const emailsPerOrganizationMax = 1_000

/** Deletes all but the newest emails of each organization's inbox. */
export async function trimInbox(db: Db): Promise<void> {
  await trimInboxes(db, emailsPerOrganizationMax)
}
