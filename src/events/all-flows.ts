import { leastId } from '../values/ids.ts'

/** The value of `event_counters.flow_id` in rows that count the events of all flows. */
export const allFlows = leastId('flw', 0)
