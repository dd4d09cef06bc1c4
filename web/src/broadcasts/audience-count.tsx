import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import type { BroadcastDetail, AudienceCount as Count } from '../api/types.ts'
import { count, pluralize } from '../ui/numbers.ts'
import { audienceCountQuery } from './broadcasts.api.ts'
import { leftOutText } from './left-out.ts'

const pauseMs = 400

type Audience = BroadcastDetail['audience']

export const isEmpty = ({ all_subscribed, not_opened_broadcast_id, group_ids, segment_ids }: Audience) =>
  !all_subscribed && not_opened_broadcast_id === null && group_ids.length + segment_ids.length === 0

type Props = { audience: Audience; isAnnouncement: boolean }

/** How many would get the email, as the audience is now. */
export function AudienceCount({ audience, isAnnouncement }: Props) {
  // A text, because the audience is another object at each change of the form.
  const [text] = useDebouncedValue(JSON.stringify({ audience, service_announcement: isAnnouncement }), pauseMs)
  const composed = JSON.parse(text) as { audience: Audience; service_announcement: boolean }
  const counted = useQuery({
    ...audienceCountQuery(composed),
    enabled: !isEmpty(composed.audience),
    placeholderData: keepPreviousData,
  })
  if (isEmpty(audience)) return null
  const { data, error, isFetching } = counted
  return (
    <Text size="sm" role="status" aria-label="Recipients" aria-busy={isFetching} c={data ? undefined! : 'dimmed'}>
      {error && !isFetching ? messageOf(error) : data ? countText(data, isAnnouncement) : 'Counting…'}
    </Text>
  )
}

function countText(counted: Count, isAnnouncement: boolean): string {
  if (!counted.complete) return `More than ${count(shownNumber(counted))} recipients. The check counts all of them.`
  const leftOut = leftOutText(counted, isAnnouncement)
  return `${pluralize(counted.recipients, 'recipient', 'recipients')}.${leftOut ? ` Left out: ${leftOut}.` : ''}`
}

/** The number of recipients. An incomplete one has two digits: the exact one depends on how long counting took. */
export function shownNumber({ recipients, complete }: Count): number {
  if (complete) return recipients
  const unit = 10 ** Math.max(0, String(recipients).length - 2)
  return Math.floor(recipients / unit) * unit
}
