export { scheduleBroadcast } from './actions.ts'
