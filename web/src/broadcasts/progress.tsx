import { Paper, Progress, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { BroadcastDetail } from '../api/types.ts'
import { Notice } from '../ui/notice.tsx'
import { count, pluralize, share } from '../ui/numbers.ts'
import { broadcastQuery, doneOf, sentOf } from './broadcasts.api.ts'
import { isOver } from './pace.ts'
import { isWaitingForWinner } from './plan.ts'
import { aboutText, useRate } from './use-rate.ts'
import { Waits } from './waits.tsx'
import { ZonedTime } from './zoned-time.tsx'

/** Why it is not sending, and how far it is. At the end, the badge and the results say it. */
export function BroadcastProgress({ broadcast }: { broadcast: BroadcastDetail }) {
  return (
    <>
      <StateNotice broadcast={broadcast} />
      <Waits waits={broadcast.waiting} />
      {broadcast.recipients !== null && broadcast.recipients > 0 && !isOver(broadcast) && <Bar broadcast={broadcast} />}
    </>
  )
}

function StateNotice({ broadcast }: { broadcast: BroadcastDetail }) {
  const { status, starts_at, detail, decides_at } = broadcast
  if (isWaitingForWinner(broadcast))
    return (
      <Notice tone="info" role="status" title="The sample is sent">
        {decides_at ? (
          <>
            Waiting for the winner until <ZonedTime at={decides_at} />. You can pick it earlier below.
          </>
        ) : (
          'Pick the variant for the other recipients below.'
        )}
      </Notice>
    )
  switch (status) {
    case 'scheduled':
      return (
        <Notice tone="info" role="status" title="Scheduled">
          It starts <ZonedTime at={starts_at} /> and goes to the contacts in the audience at that time.
        </Notice>
      )
    case 'preparing':
      return (
        <Notice tone="info" role="status" title="Preparing">
          The recipients are being collected.
        </Notice>
      )
    case 'paused':
      return (
        <Notice tone="warn" role="status" title="Paused">
          {detail ?? 'No further email is sent until you resume it.'}
        </Notice>
      )
    case 'expired':
      return (
        <Notice tone="bad" role="status" title="Expired">
          {detail ?? 'It could not start in time, so nothing was sent.'} To send it, duplicate it.
        </Notice>
      )
    case 'sent':
      return detail ? (
        <Notice tone="warn" role="status" title="Failed recipients were not tried again">
          {detail}
        </Notice>
      ) : null
    case 'cancelled':
      return (
        <Notice tone="neutral" role="status" title="Cancelled">
          {broadcast.recipients === null
            ? 'Nothing was sent.'
            : `${count(sentOf(broadcast))} of ${pluralize(broadcast.recipients, 'recipient', 'recipients')} got the email before.`}
        </Notice>
      )
    default:
      return null
  }
}

function Bar({ broadcast }: { broadcast: BroadcastDetail }) {
  const { dataUpdatedAt } = useQuery(broadcastQuery(broadcast.id))
  const all = broadcast.recipients ?? 0
  const done = doneOf(broadcast)
  const isSending = broadcast.status === 'sending' && !isWaitingForWinner(broadcast)
  const rate = useRate(done, all, dataUpdatedAt, isSending)
  const bad = broadcast.counts.failed + broadcast.counts.bounced
  return (
    <Paper withBorder p="md" my="md" component="section" aria-label="Progress">
      <Text mb="xs" aria-live="polite">
        <strong className="number">
          {count(done)} of {pluralize(all, 'recipient', 'recipients')}
        </strong>{' '}
        ({share(done, all)})
        {isSending && rate && (
          <>
            , {count(Math.round(rate.perHour))} per hour, {aboutText(rate.leftMs)} left
          </>
        )}
      </Text>
      <Progress.Root size="lg">
        <Progress.Section
          value={(100 * (done - bad)) / all}
          color="green.8"
          animated={isSending}
          aria-label="Recipients done"
        />
        <Progress.Section value={(100 * bad) / all} color="red.8" aria-label="Failed or bounced" />
      </Progress.Root>
    </Paper>
  )
}
