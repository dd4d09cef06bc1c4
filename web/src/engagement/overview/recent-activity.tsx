import { Anchor, Group, Paper, Text } from '@mantine/core'
import { Link } from 'react-router'
import { EventBadges } from '../../events/activity/event-list.tsx'
import { useEvents } from '../../events/activity/events.api.ts'
import { paths } from '../../paths.ts'
import { emailText } from '../../ui/email-text.ts'
import { LiveBadge } from '../../ui/live-badge.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import classes from './recent-activity.module.css'

const shown = 10

export function RecentActivity() {
  const events = useEvents({ limit: shown })
  return (
    <Section
      title="Recent activity"
      actions={
        <>
          <LiveBadge pages={events} />
          <Anchor component={Link} to={paths.activity}>
            All activity
          </Anchor>
        </>
      }
    >
      <Load
        query={events}
        isEmpty={(list) => list.length === 0}
        empty={<Empty title="No activity yet">Opens, clicks and bounces will appear here live.</Empty>}
      >
        {(list) => (
          <Paper withBorder component="ul" className={classes.strip}>
            {list.slice(0, shown).map((event) => (
              <Group component="li" key={event.id} gap="xs" wrap="nowrap" justify="space-between">
                <Group gap="4px 10px" miw={0} className={classes.event ?? ''}>
                  <EventBadges event={event} />
                  <span className="one-line">
                    {event.contact ? (
                      <Anchor component={Link} to={paths.contact(event.contact.id)} c="inherit">
                        {emailText(event.contact.email)}
                      </Anchor>
                    ) : (
                      '–'
                    )}
                  </span>
                </Group>
                <Text size="xs" c="dimmed">
                  <Time at={event.occurred_at} />
                </Text>
              </Group>
            ))}
          </Paper>
        )}
      </Load>
    </Section>
  )
}
