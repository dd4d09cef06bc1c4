export { datePastWebhook } from './past-webhooks.sql.ts'
