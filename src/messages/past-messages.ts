export { insertPastMessages, type PastMessage } from './past-messages.sql.ts'
