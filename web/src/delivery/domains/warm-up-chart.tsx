import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { shownNumber } from '../../broadcasts/audience-count.tsx'
import { audienceCountQuery } from '../../broadcasts/broadcasts.api.ts'
import { count, pluralize, shortCount } from '../../ui/numbers.ts'
import { calendarDay } from '../../ui/time.tsx'
import classes from './warm-up-chart.module.css'
import { daysFor, endOf, type PlanState } from './warm-up-plan.ts'

/** The days of a plan as bars, when it ends, and what it means for an email to everybody. */
export function WarmUpChart({ state }: { state: PlanState }) {
  const { plan, day } = state
  // Logarithmic: a plan grows a thousandfold.
  const highest = Math.log(Math.max(...plan) + 1)
  const numbered = plan.length <= numberedMax
  return (
    <figure className={classes.figure}>
      <ol className={classes.bars} aria-label="Emails on each day">
        {plan.map((emails, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: the days of a plan
            key={index}
            title={`Day ${index + 1}: ${pluralize(emails, 'email', 'emails')}`}
            data-state={index + 1 < day ? 'past' : index + 1 === day ? 'today' : undefined}
          >
            {numbered && <span aria-hidden>{shortCount(emails)}</span>}
            <div style={{ height: `${8 + (72 * Math.log(emails + 1)) / highest}px` }} aria-hidden />
            <span className={classes.text}>
              Day {index + 1}: {count(emails)}
            </span>
          </li>
        ))}
      </ol>
      <figcaption>
        <Text size="sm" c="dimmed">
          {day > plan.length
            ? 'The plan has ended.'
            : `Ends on ${calendarDay(endOf(state, new Date()))} if the domain sends every day.`}{' '}
          <NeededDays state={state} />
        </Text>
      </figcaption>
    </figure>
  )
}

const numberedMax = 14

/** For an email to all subscribed contacts. */
function NeededDays({ state }: { state: PlanState }) {
  const counted = useQuery(
    audienceCountQuery({
      audience: {
        all_subscribed: true,
        group_ids: [],
        segment_ids: [],
        exclude_group_ids: [],
        exclude_segment_ids: [],
        not_opened_broadcast_id: null,
      },
      service_announcement: false,
    }),
  )
  if (!counted.data || counted.data.recipients === 0) return null
  const people = shownNumber(counted.data)
  return (
    <>
      {counted.data.complete ? 'Your list' : 'Your list, more than'} of {count(people)} needs{' '}
      {pluralize(daysFor(people, state), 'day', 'days')}.
    </>
  )
}
