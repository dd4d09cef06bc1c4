import type { Db } from '../db/db.ts'
import { trimInboxes } from './inbox.sql.ts'

export { type InboxRow, insertIntoInbox, insertQueuedIntoInbox } from './inbox.sql.ts'

/** The inbox shows the newest emails. It is not an archive. */
const emailsPerOrganizationMax = 1_000

/** Deletes all but the newest emails of each organization's inbox. */
export const trimInbox = (db: Db): Promise<void> => trimInboxes(db, emailsPerOrganizationMax)
