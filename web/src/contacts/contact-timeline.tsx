import { Anchor, Group, Paper, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import { EventBadge } from '../activity/event-names.tsx'
import type { EventName, TimelineEntry } from '../api/types.ts'
import { paths } from '../paths.ts'
import { More } from '../ui/more.tsx'
import { Section } from '../ui/section.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { Time } from '../ui/time.tsx'
import { inWords } from '../ui/words.ts'
import { useTimeline } from './contacts.api.ts'

/** Everything that was sent to somebody and everything they did. */
export function ContactTimeline({ contactId }: { contactId: string }) {
  const timeline = useTimeline(contactId)
  return (
    <Section title="Timeline">
      <Load
        query={timeline}
        isEmpty={(list) => list.length === 0}
        empty={<Empty title="Nothing yet">Mail to this contact and what comes of it will stand here.</Empty>}
      >
        {(list) => (
          <Paper withBorder>
            <Stack component="ol" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
              {list.map((entry) => (
                <Entry key={`${entry.kind} ${entry.event_id ?? entry.message_id} ${entry.at}`} entry={entry} />
              ))}
            </Stack>
          </Paper>
        )}
      </Load>
      <More pages={timeline} />
    </Section>
  )
}

function Entry({ entry }: { entry: TimelineEntry }) {
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="sm" px="md" py="xs" wrap="nowrap">
      <Group gap="sm" align="flex-start">
        {entry.event_name ? (
          <EventBadge name={entry.event_name as EventName} />
        ) : (
          <StatusBadge tone="still">{entry.status === 'suppressed' ? 'Not sent' : 'Mail'}</StatusBadge>
        )}
        <div>
          {entry.message_id ? (
            <Anchor component={Link} to={paths.message(entry.message_id)} c="inherit" fw={500}>
              {entry.subject ?? entry.flow_name ?? 'Message'}
            </Anchor>
          ) : (
            <Text span>{entry.subject ?? ''}</Text>
          )}
          {entry.machine && (
            <Text span c="dimmed">
              , by a machine
            </Text>
          )}
          {entry.detail && (
            <Text size="xs" c="dimmed" className="break">
              {inWords(entry.detail)}
            </Text>
          )}
        </div>
      </Group>
      <Text size="xs" c="dimmed">
        <Time at={entry.at} />
      </Text>
    </Group>
  )
}
