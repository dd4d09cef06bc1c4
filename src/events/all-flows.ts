import type { FlowId } from '../values/ids.ts'

/** The value of `event_counters.flow_id` in rows that count the events of all flows. */
export const allFlows = '00000000-0000-0000-0000-000000000000' as FlowId
