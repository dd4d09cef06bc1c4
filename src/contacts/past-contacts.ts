export {
  insertPastContacts,
  insertPastImport,
  type PastContact,
  type PastImport,
} from './past-contacts.sql.ts'
