import { Anchor, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { EmailEvent, EventSummary } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import type { Column } from '../../ui/data-table.tsx'
import { describe } from '../../ui/descriptions.ts'
import { emailText } from '../../ui/email-text.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Time } from '../../ui/time.tsx'
import { EventBadge } from './event-names.tsx'

/** The detail of an event: the clicked link, or the reason of a bounce. */
export function detailOf({ data }: Pick<EmailEvent, 'data'>): string {
  const bounce = typeof data.bounce === 'object' && data.bounce !== null ? (data.bounce as Record<string, unknown>) : {}
  const details = [data.url, bounce.reason, bounce.diagnostic, data.feedback_type, data.method]
  return describe(details.find((detail): detail is string => typeof detail === 'string') ?? '')
}

/** The line of the reply or the bounce mail that decided how a bounce was classified, if there is one. */
export function evidenceOf({ data }: Pick<EmailEvent, 'data'>): string {
  const bounce = typeof data.bounce === 'object' && data.bounce !== null ? (data.bounce as Record<string, unknown>) : {}
  return typeof bounce.evidence === 'string' ? bounce.evidence : ''
}

export function EventBadges({ event }: { event: EventSummary }) {
  return (
    <span style={{ display: 'inline-flex', gap: 6, flex: 'none' }}>
      <EventBadge name={event.event_name} />
      {event.machine && (
        <span title={event.machine_reason ?? 'Caused by a scanner or a privacy proxy'}>
          <StatusBadge tone="neutral">Automated</StatusBadge>
        </span>
      )}
    </span>
  )
}

export const eventColumns: Column<EmailEvent>[] = [
  { header: 'Event', phone: 'title', cell: (event) => <EventBadges event={event} /> },
  {
    header: 'Contact',
    phone: 'bare',
    minWidth: '290px',
    cell: (event) =>
      event.contact ? (
        <Anchor component={Link} to={paths.contact(event.contact.id)} c="inherit" fw={500} className="break">
          {emailText(event.contact.email)}
        </Anchor>
      ) : (
        '–'
      ),
  },
  {
    header: 'Flow',
    phone: 'bare',
    minWidth: '160px',
    cell: (event) =>
      event.message_id ? (
        <Anchor
          component={Link}
          to={paths.message(event.message_id)}
          c="inherit"
          className="two-lines"
          title={event.flow_name ?? undefined}
        >
          {event.flow_name ?? 'Message'}
        </Anchor>
      ) : (
        '–'
      ),
  },
  {
    header: 'Detail',
    phone: 'bare',
    cell: (event) =>
      detailOf(event) && (
        <Text size="xs" c="dimmed" className="break" title={evidenceOf(event) || undefined}>
          {detailOf(event)}
        </Text>
      ),
  },
  { header: 'When', align: 'right', phone: 'corner', cell: (event) => <Time at={event.occurred_at} /> },
]
