import { usePages } from '../api/pages.ts'
import type { EmailEvent, EventName } from '../api/types.ts'

export type EventFilter = { event_name: EventName | ''; flow_id: string; machine: '' | 'true' | 'false' }

export const useEvents = (filter: Partial<EventFilter> & { limit?: number }, live = true) =>
  usePages<EmailEvent>(['events'], 'organization/events', filter, { live })
