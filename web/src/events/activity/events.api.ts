import { api, omitEmpty, pageOf } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { usePages } from '../../api/pages.ts'
import type { EmailEvent, EventName } from '../../api/types.ts'

export type EventFilter = { event_name: EventName | ''; flow_id: string; machine: '' | 'true' | 'false' }

export const useEvents = (filter: Partial<EventFilter> & { limit?: number }) =>
  usePages<EmailEvent>(
    keys.events(filter),
    (from, signal) => {
      const { machine, ...rest } = filter
      const query = { ...omitEmpty(rest), ...(machine && { machine: machine === 'true' }), ...from }
      return pageOf(api.GET('/api/v1/organization/events', { params: { query }, signal }))
    },
    { live: true },
  )
