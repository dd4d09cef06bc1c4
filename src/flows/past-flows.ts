export { datePastFlows } from './past-flows.sql.ts'
