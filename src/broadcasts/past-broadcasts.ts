export type { Variant } from './broadcasts.sql.ts'
export { insertPastBroadcast, type PastBroadcast, type PastRecipient } from './past-broadcasts.sql.ts'
