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
export type { ActorType, Change } from './contacts/history.ts'
export { actorIdText, actorTypes, changes } from './contacts/history.ts'
export { lockContacts } from './contacts/locks.ts'
export { storedText } from './contacts/stored-address.ts'
export { resubscribe, unsubscribeByRecipient } from './contacts/subscriptions.ts'
export { isTestRecipientId, testRecipientId } from './contacts/test-recipient.ts'
export { inTransaction } from './contacts/transaction.ts'
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
export type { Segment } from './segments/segments.ts'
export { checkUnused, getSegment } from './segments/segments.ts'
