export { lockContacts } from './lock-contacts.sql.ts'
