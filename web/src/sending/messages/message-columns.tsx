import { Text } from '@mantine/core'
import type { Message } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import type { Column } from '../../ui/data-table.tsx'
import { emailText } from '../../ui/email-text.ts'
import { RowLink } from '../../ui/row-link.tsx'
import { Time } from '../../ui/time.tsx'
import { MessageBadges } from './message-status.tsx'
import { ScheduledLine } from './scheduled.tsx'
import { WaitingLine } from './waiting.tsx'

export const messageColumns: Column<Message>[] = [
  {
    header: 'Message',
    phone: 'title',
    minWidth: '260px',
    cell: (message) => (
      <>
        <RowLink to={paths.message(message.id)}>{message.subject || '(no subject)'}</RowLink>
        <Text size="xs" c="dimmed" fw={400}>
          to {emailText(message.contact.email)}
        </Text>
      </>
    ),
  },
  {
    header: 'Status',
    cell: (message) => (
      <>
        <MessageBadges message={message} />
        <WaitingLine message={message} />
        <ScheduledLine message={message} />
      </>
    ),
  },
  {
    header: 'Flow',
    minWidth: '160px',
    cell: (message) => (
      <div>
        <span className="two-lines">{message.flow_name ?? '–'}</span>
        {message.broadcast && (
          <Text size="xs" c="dimmed">
            Broadcast {message.broadcast.name}
          </Text>
        )}
      </div>
    ),
  },
  { header: 'Queued', align: 'right', cell: (message) => <Time at={message.queued_at} /> },
]
