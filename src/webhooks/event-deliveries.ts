export { deliveryStatuses } from './deliveries.sql.ts'
export { type EventDelivery, selectDeliveriesOfEvents } from './event-deliveries.sql.ts'
