export { type BroadcastMessage, insertBroadcastMessages } from './broadcast-messages.sql.ts'
