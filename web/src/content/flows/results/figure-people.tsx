import { Group, Text } from '@mantine/core'
import type { Figure, FigureMessage } from '../../../api/types.ts'
import { paths } from '../../../paths.ts'
import type { Column } from '../../../ui/data-table.tsx'
import { bounceReasonText } from '../../../ui/descriptions.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { emailText } from '../../../ui/email-text.ts'
import { TableList } from '../../../ui/list.tsx'
import { RowLink } from '../../../ui/row-link.tsx'
import { Time } from '../../../ui/time.tsx'
import { CsvButton } from './csv-button.tsx'
import { allFigureMessages, exportRowsMax, type Period, useFigureMessages } from './results.api.ts'

const titles: Record<Figure, string> = {
  sent: 'Who it was sent to',
  delivered: 'Who it was delivered to',
  opened: 'Who opened',
  clicked: 'Who clicked',
  bounced: 'Whose email bounced',
  complaints: 'Who complained',
  unsubscribed: 'Who unsubscribed',
}
const notes: Partial<Record<Figure, string>> = {
  sent: 'Emails sent in this period, including those your mail server rejected.',
  delivered: 'Emails sent in this period, except those that bounced.',
  bounced: 'Emails sent in this period that bounced then or later, each once.',
  opened: 'At the first open by a person. Automated opens are not listed.',
  clicked: 'At the first click by a person. Automated clicks are not listed.',
}
export const isFigure = (text: string): text is Figure => Object.hasOwn(titles, text)

const columnsFor = (figure: Figure): Column<FigureMessage>[] => [
  {
    header: 'Contact',
    phone: 'title',
    cell: ({ contact, message_id: messageId }) => {
      const name = contact ? emailText(contact.email) : 'Erased contact'
      return messageId ? <RowLink to={paths.message(messageId)}>{name}</RowLink> : name
    },
  },
  ...(figure === 'bounced'
    ? [
        {
          header: 'Reason',
          cell: ({ reason, event_name: name }: FigureMessage) =>
            `${name === 'emailHardBounce' ? 'Hard' : 'Soft'}${reason ? `: ${bounceReasonText(reason)}` : ''}`,
        },
      ]
    : []),
  { header: 'When', align: 'right', cell: ({ occurred_at: at }) => <Time at={at} /> },
]

type Props = { flowId: string; figure: Figure; period: Period; fileName: string; onClose: () => void }

/** The emails that a figure counts, newest first. */
export function FigurePeople({ flowId, figure, period, fileName, onClose }: Props) {
  const filter = { ...period, figure }
  const messages = useFigureMessages(flowId, filter)
  return (
    <Dialog opened onClose={onClose} title={titles[figure]} size="lg">
      <Group justify="space-between" align="flex-start" wrap="nowrap" mb="sm">
        <Text size="sm" c="dimmed">
          {notes[figure]} The CSV file has up to {exportRowsMax.toLocaleString('en')} rows.
        </Text>
        {(messages.data?.length ?? 0) > 0 && (
          <CsvButton
            name={`${fileName}-${figure}`}
            label="people"
            header={['email', 'first_name', 'occurred_at', 'event_name', 'reason', 'contact_id', 'message_id']}
            rows={async () => (await allFigureMessages(flowId, filter)).map(cellsOf)}
          />
        )}
      </Group>
      <TableList
        label={titles[figure]}
        query={messages}
        columns={columnsFor(figure)}
        rowKey={({ id }) => id}
        empty={{ title: 'No emails in this period' }}
      />
    </Dialog>
  )
}

const cellsOf = ({ contact, occurred_at, event_name, reason, message_id }: FigureMessage) => [
  contact?.email,
  contact?.first_name,
  occurred_at,
  event_name,
  reason,
  contact?.id,
  message_id,
]
