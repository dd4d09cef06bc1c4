import { hash } from 'node:crypto'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'

/**
 * The contact id of test emails to an address without a contact. It follows from the address, so that exporting and
 * erasing a contact that is created later include them.
 */
export function testRecipientId(organizationId: OrganizationId, emailKey: string): ContactId {
  const digest = hash('sha256', `${organizationId} ${emailKey}`)
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}` as ContactId
}

/** Ids of contacts have version 7 (RFC 9562), ids of test recipients version 8. */
export const isTestRecipientId = (id: ContactId): boolean => id[14] === '8'
