export { type Consent, selectConsents } from './consents.sql.ts'
