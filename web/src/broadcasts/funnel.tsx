import { SimpleGrid } from '@mantine/core'
import type { BroadcastDetail } from '../api/types.ts'
import { count, share } from '../ui/numbers.ts'
import { Section } from '../ui/section.tsx'
import classes from './funnel.module.css'

/** From recipient to click: each step with its share of the emails that were sent. */
export function Funnel({ broadcast }: { broadcast: BroadcastDetail }) {
  const { counts, results } = broadcast
  const sent = counts.sent + counts.bounced
  const delivered = sent - counts.bounced
  const steps = [
    { name: 'Sent', value: sent, of: broadcast.recipients ?? 0 },
    { name: 'Delivered', value: delivered, of: sent },
    { name: 'Opened', value: results.opened, of: sent },
    { name: 'Clicked', value: results.clicked, of: sent },
  ]
  const losses = [
    { name: 'Bounced', value: counts.bounced },
    { name: 'Unsubscribed', value: results.unsubscribed },
    { name: 'Complaints', value: results.complained },
    { name: 'Failed', value: counts.failed },
    { name: 'Suppressed', value: counts.suppressed },
    { name: 'Unsubscribed before sending', value: counts.unsubscribed },
    { name: 'Cancelled', value: counts.cancelled },
  ]
  return (
    <Section title="Result" description="Opens and clicks by people. Automated ones are not counted.">
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
        {steps.map(({ name, value, of }) => (
          <div key={name} className={classes.step}>
            <span className={classes.name}>{name}</span>
            <strong className="number">{count(value)}</strong>
            <span className={classes.share}>{share(value, of)}</span>
            <span
              className={classes.bar}
              style={{ backgroundSize: `${of === 0 ? 0 : (100 * value) / of}% 100%` }}
              aria-hidden
            />
          </div>
        ))}
      </SimpleGrid>
      <dl className={classes.losses}>
        {losses
          .filter(({ value }) => value > 0)
          .map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="number">
                {count(value)} <span>{share(value, broadcast.recipients ?? 0)}</span>
              </dd>
            </div>
          ))}
      </dl>
    </Section>
  )
}
