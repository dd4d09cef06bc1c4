import type { Reader } from '../db/db.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'
import { type Consent, selectConsents } from './consents.sql.ts'

export type { Consent } from './consents.sql.ts'

/** Every subscription and unsubscription of a contact, newest first. */
export const listConsents = (db: Reader, organizationId: OrganizationId, id: ContactId): Promise<Consent[]> =>
  selectConsents(db, organizationId, id)
