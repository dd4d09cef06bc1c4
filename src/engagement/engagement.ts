export { providerTitles } from './bounces/providers/providers.routes.ts'
export { sendgridReports } from './bounces/providers/sendgrid.ts'
