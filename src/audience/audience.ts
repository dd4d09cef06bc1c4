export { ConsentOut, consentOut } from './contacts/consents.routes.ts'
export { selectConsents } from './contacts/consents.ts'
export { getContact, recipientOf } from './contacts/contacts.ts'
export type { ContactStanding, Standing } from './contacts/eligibility.ts'
export {
  erasedReason,
  ineligibleReason,
  isSuppressed,
  mayReceive,
  selectStandings,
  suppressedBy,
} from './contacts/eligibility.ts'
export { createGroup } from './contacts/groups.ts'
export type { Actor, ActorType, Change } from './contacts/history.ts'
export { actorIdText, actorTypes, changes } from './contacts/history.ts'
export { lockContacts } from './contacts/locks.ts'
export type { PastContact } from './contacts/past-contacts.ts'
export { datePastGroups, insertPastContacts } from './contacts/past-contacts.ts'
export { storedText } from './contacts/stored-address.ts'
export { resubscribe, unsubscribeByRecipient } from './contacts/subscriptions.ts'
export { isTestRecipientId, testRecipientId } from './contacts/test-recipient.ts'
export { inTransaction } from './contacts/transaction.ts'
export { insertPastImport } from './imports/past-import.ts'
export type { ReactionName } from './segments/broadcast-recipients.ts'
export {
  hasReaction,
  isReaction,
  isReactionName,
  isReading,
  recipientCondition,
} from './segments/broadcast-recipients.ts'
export type { Filter } from './segments/filter.ts'
export { matchesFilter } from './segments/matches.ts'
export type { ResolvedFilter } from './segments/nested-segments.ts'
export { countResolved, findSegmentAndUsers, resolveFilter } from './segments/nested-segments.ts'
export { checkFilter } from './segments/parse-filter.ts'
export { datePastSegments } from './segments/past-segments.ts'
export type { Segment } from './segments/segments.ts'
export { checkUnused, createSegment, getSegment } from './segments/segments.ts'
export { datePastSuppressions } from './suppressions/past-suppressions.ts'
