import type { Webhook } from '../../api/types.ts'
import { Copyable } from '../../ui/copy.tsx'
import { CreatedBy } from '../../ui/created-by.tsx'
import { Facts } from '../../ui/facts.tsx'
import { DayAndClock, Time } from '../../ui/time.tsx'
import { eventsOf, successShare } from './webhook-health.tsx'
import { useRetryText } from './webhooks.api.ts'

const retried4xx = ({ retry_4xx: statuses }: Webhook) =>
  statuses.length === 0 ? '' : `, also after ${statuses.join(', ')}`

export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const retries = useRetryText(webhook.retry_schedule)
  return (
    <Facts
      facts={[
        ['URL', <Copyable key="url" value={webhook.url} label="Copy URL" />],
        ['Events', eventsOf(webhook)],
        ['Delivered on', webhook.acknowledge === '2xx' ? 'Any 2xx response' : 'A 200 response'],
        ['Retries', retries ? `${retries}${retried4xx(webhook)}` : '–'],
        ['Success rate, 24 h', successShare(webhook)],
        ['Pending', String(webhook.stats_24h?.pending ?? 0)],
        ['Last delivery', <Time key="last" at={webhook.last_delivery_at} />],
        ['Created', <Time key="created" at={webhook.created_at} />],
        ['Created by', <CreatedBy key="creator" creator={webhook.created_by} />],
        ...(webhook.secret_rotation_ends_at
          ? [
              ['Old secret expires', <DayAndClock key="rotation" at={webhook.secret_rotation_ends_at} />] as [
                string,
                React.ReactNode,
              ],
            ]
          : []),
      ]}
    />
  )
}
