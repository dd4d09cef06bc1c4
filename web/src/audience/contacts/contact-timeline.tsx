import { Paper, Text } from '@mantine/core'
import type { EventName, MessageStatus, TimelineEntry } from '../../api/types.ts'
import { EventBadge } from '../../events/activity/event-names.tsx'
import { StateBadge } from '../../sending/messages/message-status.tsx'
import { describe } from '../../ui/descriptions.ts'
import { ListFrame } from '../../ui/list.tsx'
import { Section } from '../../ui/section.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Time } from '../../ui/time.tsx'
import classes from './contact-timeline.module.css'
import { useTimeline } from './contacts.api.ts'
import { Detail, EmailCard, MessageLink } from './email-card.tsx'

type Change = NonNullable<TimelineEntry['change']>

const changes: Record<Change, { tone: Tone; label: string }> = {
  created: { tone: 'neutral', label: 'Added' },
  edited: { tone: 'neutral', label: 'Edited' },
  subscribed: { tone: 'good', label: 'Subscribed' },
  unsubscribed: { tone: 'warn', label: 'Unsubscribed' },
  suppressed: { tone: 'bad', label: 'Suppressed' },
  unsuppressed: { tone: 'info', label: 'Unsuppressed' },
  group_added: { tone: 'neutral', label: 'Group' },
  group_removed: { tone: 'neutral', label: 'Group' },
}

/** Emails to a contact with what happened to them, and all changes by the contact, the team and the API. */
export function ContactTimeline({ contactId }: { contactId: string }) {
  const timeline = useTimeline(contactId)
  return (
    <Section title="Timeline">
      <ListFrame
        query={timeline}
        empty={{ title: 'No activity yet', children: 'Emails and activity for this contact will appear here.' }}
      >
        {(list) => (
          <Paper withBorder component="ol" className={classes.list ?? ''}>
            {list.map((entry) => (
              <li key={keyOf(entry)} className={classes.entry}>
                <div>
                  <Badge entry={entry} />
                </div>
                <div className={classes.text}>
                  <EntryText entry={entry} />
                </div>
                <Text size="xs" c="dimmed">
                  <Time at={entry.at} />
                </Text>
              </li>
            ))}
          </Paper>
        )}
      </ListFrame>
    </Section>
  )
}

const keyOf = (entry: TimelineEntry) =>
  [entry.kind, entry.event_id ?? entry.message_id ?? entry.change, entry.group?.id, entry.at].join(' ')

function Badge({ entry }: { entry: TimelineEntry }) {
  if (entry.change) return <StatusBadge tone={changes[entry.change].tone}>{changes[entry.change].label}</StatusBadge>
  if (entry.event_name) return <EventBadge name={entry.event_name as EventName} />
  return <StateBadge status={entry.status as MessageStatus} engagement={entry.engagement} />
}

function EntryText({ entry }: { entry: TimelineEntry }) {
  if (entry.change) return <ChangeText entry={entry} />
  return entry.kind === 'message' ? <EmailCard entry={entry} /> : <EventText entry={entry} />
}

function ChangeText({ entry }: { entry: TimelineEntry }) {
  const by = actorText(entry)
  switch (entry.change) {
    case 'created':
      return (
        <>
          {entry.subscribed ? 'Contact added and subscribed' : 'Contact added'}
          {by}
        </>
      )
    case 'edited':
      return (
        <>
          Edited{by}
          <Detail>{entry.fields?.map((field) => field.replaceAll('_', ' ')).join(', ')}</Detail>
        </>
      )
    case 'group_added':
      return (
        <>
          Added to {groupName(entry)}
          {by}
        </>
      )
    case 'group_removed':
      return (
        <>
          Removed from {groupName(entry)}
          {by}
        </>
      )
    case 'subscribed':
      return <>Subscribed to marketing email{by}</>
    case 'unsubscribed':
      return <>Unsubscribed from marketing email{by}</>
    case 'suppressed':
      return <>Address suppressed{by}</>
    default:
      return <>Suppression removed{by}</>
  }
}

/** Unsubscriptions, and events without a message. */
function EventText({ entry }: { entry: TimelineEntry }) {
  const by = actorText(entry)
  if (entry.event_name === 'contactUnsubscribe')
    return (
      <>
        Unsubscribed{by}
        <Detail>{!by && entry.detail && describe(entry.detail)}</Detail>
      </>
    )
  return (
    <>
      {entry.message_id && <MessageLink entry={entry} />}
      <Detail>{entry.detail && describe(entry.detail)}</Detail>
    </>
  )
}

const groupName = ({ group }: TimelineEntry) => (group?.name ? `“${group.name}”` : 'a deleted group')

/** For example “ by ada@example.com in the app”, to follow the description of a change. Empty if unknown. */
function actorText({ actor }: TimelineEntry): string {
  return actor ? `${actorName(actor)}${actor.ip ? ` from ${actor.ip}` : ''}` : ''
}

function actorName(actor: NonNullable<TimelineEntry['actor']>): string {
  switch (actor.type) {
    case 'user':
      return ` by ${actor.name ?? 'a former team member'} in the app`
    case 'api_key':
      return actor.name ? ` through the API key “${actor.name}”` : ' through the API'
    case 'import':
      return actor.name ? ` by the import of ${actor.name}` : ' by an import'
    case 'recipient':
      return ' by the recipient'
    case 'system':
      return ' automatically'
  }
}
