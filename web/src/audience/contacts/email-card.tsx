import { Anchor, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { EventName, EventSummary, TimelineEntry } from '../../api/types.ts'
import { detailOf, evidenceOf } from '../../events/activity/event-list.tsx'
import { eventLabels } from '../../events/activity/event-names.tsx'
import { paths } from '../../paths.ts'
import { describe } from '../../ui/descriptions.ts'
import { pluralize } from '../../ui/numbers.ts'
import { Time } from '../../ui/time.tsx'
import classes from './email-card.module.css'

const linesMax = 8

/** An email to a contact, and everything that happened to it: each thing once, with how often and when it last happened. */
export function EmailCard({ entry }: { entry: TimelineEntry }) {
  const lines = linesOf(entry.events)
  return (
    <>
      <MessageLink entry={entry} />
      <Text size="xs" c="dimmed" className="break">
        {entry.broadcast ? (
          <>
            Broadcast{' '}
            <Anchor component={Link} to={paths.broadcast(entry.broadcast.id)} underline="always" inherit>
              {entry.broadcast.name}
            </Anchor>
          </>
        ) : (
          entry.flow_name
        )}
      </Text>
      {lines.length === 0 && <Detail>{entry.detail && describe(entry.detail)}</Detail>}
      {lines.length > 0 && (
        <ul className={classes.lines} aria-label="What happened">
          {lines.slice(0, linesMax).map(({ key, text, last, events }) => (
            <li key={key}>
              <span className="break">
                {text}
                {events.length > 1 && `, ${pluralize(events.length, 'time', 'times')}`}
                {evidenceOf(last) && (
                  <Text
                    component="q"
                    display="block"
                    size="xs"
                    c="dimmed"
                    title="The line that decided the classification"
                  >
                    {evidenceOf(last)}
                  </Text>
                )}
              </span>
              <Text span size="xs" c="dimmed">
                <Time at={last.occurred_at} />
              </Text>
            </li>
          ))}
          {lines.length > linesMax && (
            <li>
              <Anchor component={Link} to={paths.message(entry.message_id ?? '')} underline="always" inherit>
                {pluralize(lines.length - linesMax, 'more event', 'more events')}
              </Anchor>
            </li>
          )}
        </ul>
      )}
    </>
  )
}

type Line = { key: string; text: string; events: EventSummary[]; last: EventSummary }

/** Events of the same kind with the same detail are one line, in the order in which they first happened. */
function linesOf(events: EventSummary[]): Line[] {
  const lines = new Map<string, Line>()
  for (const event of events) {
    const text = textOf(event)
    const known = lines.get(text)
    if (known) {
      known.events.push(event)
      known.last = event
    } else lines.set(text, { key: text, text, events: [event], last: event })
  }
  return [...lines.values()]
}

function textOf(event: EventSummary): string {
  const label = eventLabels[event.event_name as EventName]
  const detail = detailOf(event)
  return [label, event.machine && ' (automated)', detail && `: ${detail}`].filter(Boolean).join('')
}

export function MessageLink({ entry }: { entry: TimelineEntry }) {
  return (
    <Anchor component={Link} to={paths.message(entry.message_id ?? '')} c="inherit" fw={500} className="break">
      {entry.subject || entry.flow_name || '(no subject)'}
    </Anchor>
  )
}

export function Detail({ children }: { children: ReactNode }) {
  if (!children) return null
  return (
    <Text size="xs" c="dimmed" className="break">
      {children}
    </Text>
  )
}
