import { Anchor, Paper, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams } from 'react-router'
import type { EventSummary, MessageDetail } from '../../api/types.ts'
import { detailOf, EventBadges, evidenceOf } from '../../events/activity/event-list.tsx'
import { paths } from '../../paths.ts'
import { Copyable } from '../../ui/copy.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { describe } from '../../ui/descriptions.ts'
import { EmailFrame, EmailText } from '../../ui/email-frame.tsx'
import { emailText } from '../../ui/email-text.ts'
import { Facts } from '../../ui/facts.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty, Load } from '../../ui/states.tsx'
import { DayAndClock, Time } from '../../ui/time.tsx'
import { Attachments } from './attachments.tsx'
import { CancelButton } from './cancel-button.tsx'
import { MessageContext } from './message-context.tsx'
import { MessageDeliveries } from './message-deliveries.tsx'
import { MessageBadges } from './message-status.tsx'
import { messageQuery } from './messages.api.ts'
import { ScheduledNotice } from './scheduled.tsx'
import { SendAgain } from './send-again.tsx'
import { WaitingNotice } from './waiting.tsx'

export function MessagePage() {
  const { id = '' } = useParams()
  const message = useQuery(messageQuery(id))
  return (
    <Page
      title={message.data?.subject || 'Message'}
      beside={message.data && <MessageBadges message={message.data} />}
      back={{ to: paths.messages, label: 'Messages' }}
      actions={
        message.data &&
        (isWaiting(message.data) ? <CancelButton message={message.data} /> : <SendAgain message={message.data} />)
      }
    >
      <Load query={message}>{(detail) => <MessageView message={detail} />}</Load>
    </Page>
  )
}

const isWaiting = ({ status }: MessageDetail) => status === 'scheduled' || status === 'queued'

function MessageView({ message }: { message: MessageDetail }) {
  return (
    <>
      {message.reason && message.status !== 'queued' && (
        <Notice
          tone={message.status === 'suppressed' ? 'warn' : 'bad'}
          title={message.status === 'suppressed' ? 'Not sent' : 'Not delivered'}
        >
          {describe(message.reason)}
        </Notice>
      )}
      <WaitingNotice message={message} />
      <ScheduledNotice message={message} />
      <Facts
        facts={[
          [
            'To',
            message.contact.id === null ? (
              emailText(message.contact.email)
            ) : (
              <Anchor key="to" component={Link} to={paths.contact(message.contact.id)}>
                {emailText(message.contact.email)}
              </Anchor>
            ),
          ],
          ['From', message.from ?? '–'],
          ...otherRecipients(message),
          [
            'Flow',
            message.is_without_flow ? (
              message.flow_name
            ) : message.flow_id ? (
              <Anchor key="flow" component={Link} to={paths.flow(message.flow_id)}>
                {message.flow_name ?? message.flow_id}
                {message.flow_version !== null && `, version ${message.flow_version}`}
              </Anchor>
            ) : (
              '–'
            ),
          ],
          ...broadcastOf(message),
          ['Queued', <Time key="queued" at={message.queued_at} />],
          ...scheduledFor(message),
          ['Sent', <Time key="sent" at={message.sent_at} none="Not sent" />],
          ['Message ID', <Copyable key="id" value={message.id} label="Copy message ID" />],
          ...delivery(message),
          ...tagsOf(message),
          ...attachmentsOf(message),
        ]}
      />
      <Section title="Events">
        {message.is_test && message.events.length === 0 ? (
          <Empty title="Test emails have no events">They don’t count in statistics, and webhooks are not called.</Empty>
        ) : message.events.length === 0 ? (
          <Empty title={willBeSent(message) ? 'No events yet' : 'No events'}>
            {willBeSent(message)
              ? 'Opens, clicks and bounces will appear here.'
              : 'This email was not sent, so it has no opens, clicks or bounces.'}
          </Empty>
        ) : (
          <DataTable label="Events" columns={columns} rows={message.events} rowKey={(event) => event.id} />
        )}
      </Section>
      <MessageDeliveries message={message} />
      {!message.is_without_flow && <MessageContext message={message} />}
      <Section
        title="Content"
        description={`${message.sent_at ? 'As sent.' : 'As it would be sent.'} Viewing it here doesn’t count as an open.`}
      >
        <Content message={message} />
      </Section>
    </>
  )
}

const broadcastOf = ({ broadcast }: MessageDetail): [string, ReactNode][] =>
  broadcast
    ? [
        [
          'Broadcast',
          <Anchor key="broadcast" component={Link} to={paths.broadcast(broadcast.id)}>
            {broadcast.name}
          </Anchor>,
        ],
      ]
    : []

/** The other recipients that the recipient sees. */
const otherRecipients = ({ to, cc, contact }: MessageDetail): [string, ReactNode][] => [
  ...(to.length > 1 || (to.length === 1 && !to[0]!.includes(contact.email))
    ? ([['To header', to.join(', ')]] as [string, ReactNode][])
    : []),
  ...(cc.length > 0 ? ([['Cc', cc.join(', ')]] as [string, ReactNode][]) : []),
]

const tagsOf = ({ tags }: MessageDetail): [string, ReactNode][] =>
  tags.length === 0 ? [] : [['Tags', tags.map(({ name, value }) => `${name}: ${value}`).join(', ')]]

const attachmentsOf = ({ id, attachments }: MessageDetail): [string, ReactNode][] =>
  attachments.length === 0
    ? []
    : [['Attachments', <Attachments key="attachments" messageId={id} attachments={attachments} />]]

const willBeSent = ({ status }: MessageDetail) => !['suppressed', 'failed', 'cancelled'].includes(status)

const scheduledFor = ({ send_at }: MessageDetail): [string, ReactNode][] =>
  send_at ? [['Scheduled for', <DayAndClock key="scheduled" at={send_at} />]] : []

function delivery({ id, delivered_to, in_inbox, relay_response, mail_server }: MessageDetail): [string, ReactNode][] {
  if (delivered_to === 'inbox')
    return [
      [
        'Delivered to',
        in_inbox ? (
          <Anchor key="inbox" component={Link} to={paths.inboxEmail(id)}>
            Built-in inbox
          </Anchor>
        ) : (
          'Built-in inbox'
        ),
      ],
    ]
  if (delivered_to === 'simulator') return [['Delivered to', 'Test recipient, without a mail server']]
  return [
    ...(mail_server ? ([['Mail server', serverName(mail_server)]] as [string, ReactNode][]) : []),
    ...(relay_response ? ([['Mail server reply', relay_response]] as [string, ReactNode][]) : []),
  ]
}

const serverName = ({ id, name }: NonNullable<MessageDetail['mail_server']>): ReactNode =>
  name === null ? (
    'Deleted'
  ) : (
    <Anchor component={Link} to={paths.mailServer(id)}>
      {name}
    </Anchor>
  )

const columns: Column<EventSummary>[] = [
  { header: 'Event', phone: 'title', cell: (event) => <EventBadges event={event} /> },
  {
    header: 'Detail',
    cell: (event) =>
      detailOf(event) && (
        <>
          <Text size="xs" className="break">
            {detailOf(event)}
          </Text>
          {evidenceOf(event) && (
            <Text component="q" size="xs" c="dimmed" className="break" title="The line that decided the classification">
              {evidenceOf(event)}
            </Text>
          )}
        </>
      ),
  },
  {
    header: 'Client (user agent)',
    phone: 'hide',
    cell: (event) => (
      <Text size="xs" c="dimmed" className="break">
        {typeof event.data.user_agent === 'string' ? event.data.user_agent : '–'}
      </Text>
    ),
  },
  { header: 'When', align: 'right', cell: (event) => <Time at={event.occurred_at} /> },
]

function Content({ message }: { message: MessageDetail }) {
  if (message.is_content_deleted)
    return (
      <Empty title="No longer stored">
        The content of emails without a flow is deleted 30 days after they are sent.
      </Empty>
    )
  if (!message.html && !message.text) {
    return <Empty title="Not available">The contact was erased, or the email was never generated.</Empty>
  }
  return (
    <Paper withBorder p="md">
      <Tabs defaultValue={message.html ? 'html' : 'text'}>
        <Tabs.List mb="sm">
          {message.html && <Tabs.Tab value="html">HTML</Tabs.Tab>}
          {message.text && <Tabs.Tab value="text">Plain text</Tabs.Tab>}
        </Tabs.List>
        {message.html && (
          <Tabs.Panel value="html">
            <EmailFrame html={message.html} title="Email content" />
          </Tabs.Panel>
        )}
        {message.text && (
          <Tabs.Panel value="text">
            <EmailText text={message.text} />
          </Tabs.Panel>
        )}
      </Tabs>
    </Paper>
  )
}
