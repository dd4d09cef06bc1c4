import { Anchor, SimpleGrid } from '@mantine/core'
import { Link } from 'react-router'
import type { BroadcastDetail } from '../api/types.ts'
import { Explanation } from '../ui/explanation.tsx'
import { count, share } from '../ui/numbers.ts'
import { Section } from '../ui/section.tsx'
import { beingCounted, sentOf } from './broadcasts.api.ts'
import classes from './funnel.module.css'
import { losses, peopleAt, steps, withoutEmail } from './people.ts'
import { ZonedTime } from './zoned-time.tsx'

/** From recipient to click: each step with its share of the emails sent. Each number leads to its people. */
export function Funnel({ broadcast }: { broadcast: BroadcastDetail }) {
  const recipients = broadcast.recipients ?? 0
  const sent = sentOf(broadcast)
  return (
    <Section
      title="Result"
      description={
        <>
          Rates are % of sent. Click a number to see who. <Meaning /> <Age broadcast={broadcast} />
        </>
      }
    >
      <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="sm">
        {steps.map(({ value: people, label, number }) => {
          const [value, of] = [number(broadcast), people === 'sent' ? recipients : sent]
          return (
            <Link key={people} className={classes.step} data-people={people} to={peopleAt(people)}>
              <span className={classes.name}>{label}</span>
              <strong className="number">{count(value)}</strong>
              <span className={classes.share}>{share(value, of)}</span>
              <span
                className={classes.bar}
                style={{ backgroundSize: `${of === 0 ? 0 : (100 * value) / of}% 100%` }}
                aria-hidden
              />
            </Link>
          )
        })}
      </SimpleGrid>
      <dl className={classes.losses}>
        {losses
          .map(({ value: people, label, number }) => ({ people, label, value: number(broadcast) }))
          .filter(({ value }) => value > 0)
          .map(({ people, label, value }) => (
            <div key={people}>
              <dt>{label}</dt>
              <dd className="number">
                <Anchor
                  component={Link}
                  underline="always"
                  to={peopleAt(people)}
                  aria-label={`${label}: ${count(value)}`}
                >
                  {count(value)}
                </Anchor>{' '}
                <span>{share(value, withoutEmail.some((each) => each.value === people) ? recipients : sent)}</span>
              </dd>
            </div>
          ))}
      </dl>
    </Section>
  )
}

/** What the numbers of the whole page count. */
const Meaning = () => (
  <Explanation label="What is counted">
    Opens and clicks are those of people: automated ones, by scanners and privacy proxies, count nowhere on this page.
    Not opened means neither opened nor clicked. Sent, and recipients without an email, are % of all recipients.
  </Explanation>
)

/** Results of many recipients are counted in the background. */
function Age({ broadcast }: { broadcast: BroadcastDetail }) {
  const { results_counted_at: at, results_outdated: areOutdated } = broadcast
  if (at === null) return `${beingCounted}.`
  if (!areOutdated) return null
  return (
    <>
      Counted <ZonedTime at={at} />, and being counted again.
    </>
  )
}
