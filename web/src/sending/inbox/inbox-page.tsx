import { Anchor, Button, CloseButton, Group, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconInbox, IconMailOff } from '@tabler/icons-react'
import { Link, NavLink, useParams } from 'react-router'
import { useMe } from '../../accounts/session/session.api.ts'
import { NotSentReason } from '../../accounts/settings/not-sent-reason.tsx'
import { basePath } from '../../api/base.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { InboxRow } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { More } from '../../ui/more.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { emptyInbox, useInbox } from './inbox.api.ts'
import { InboxEmailView } from './inbox-email.tsx'
import classes from './inbox-page.module.css'

export function InboxPage() {
  const { id } = useParams()
  const inbox = useInbox()
  const invalidate = useInvalidate()
  const some = (inbox.data?.length ?? 0) > 0
  return (
    <Page
      wide
      title="Inbox"
      description="Emails that were not sent, because no mail server was connected."
      actions={
        some && (
          <ConfirmButton
            leftSection={<IconMailOff size={16} aria-hidden />}
            confirm={{
              title: 'Empty inbox',
              action: 'Empty inbox',
              children: 'All emails in the inbox will be deleted. Messages and statistics are kept.',
              run: async () => {
                await emptyInbox()
                await invalidate(keys.inbox)
              },
            }}
          >
            Empty inbox
          </ConfirmButton>
        )
      }
    >
      <Banner />
      <Load
        query={inbox}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty
            title="No emails yet"
            icon={IconInbox}
            action={
              <Button component={Link} to={paths.flows}>
                Go to flows
              </Button>
            }
          >
            Send a test email from a flow. It arrives here with working links and open tracking.
          </Empty>
        }
      >
        {(list) => (
          <div className={classes.client} data-reading={id !== undefined || undefined}>
            <div className={classes.list}>
              <nav aria-label="Emails">
                {list.map((row) => (
                  <Row key={row.id} row={row} />
                ))}
              </nav>
              <More pages={inbox} />
            </div>
            <div className={classes.mail}>
              {id ? <InboxEmailView key={id} id={id} /> : <Empty title="Select an email to read it" icon={IconInbox} />}
            </div>
          </div>
        )}
      </Load>
    </Page>
  )
}

function Banner() {
  const me = useMe()
  const [dismissed, dismiss] = useLocalStorage({ key: `waxwing.inbox-notice:${basePath}`, defaultValue: false })
  if (dismissed) return null
  if (me.data?.mail.transport !== 'inbox') {
    if (!me.data) return null
    if (me.data.mail.account_emails === 'not_sent')
      return (
        <Notice tone="warn" title="Password resets and invitations aren’t being sent">
          <NotSentReason /> Until then, they are kept here, where only owners can read them.
        </Notice>
      )
    return (
      <Notice tone="neutral">
        A mail server is connected now. The emails here were not sent, because none could carry them at that time.
      </Notice>
    )
  }
  return (
    <Notice tone="warn" icon={<IconInbox size={18} aria-hidden />} title="Emails aren’t being sent yet">
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <span>
          No mail server is connected, so all emails arrive here.{' '}
          <Anchor component={Link} to={paths.setup}>
            Open Setup
          </Anchor>{' '}
          to change that.
        </span>
        <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(true)} />
      </Group>
    </Notice>
  )
}

function Row({ row }: { row: InboxRow }) {
  return (
    <NavLink to={paths.inboxEmail(row.id)} className={classes.row ?? ''}>
      <span className={classes.line}>
        <span className="one-line">{row.to}</span>
        <Text span size="xs" c="dimmed">
          <Time at={row.received_at} />
        </Text>
      </span>
      <strong className="one-line">{row.subject}</strong>
      <Text span size="xs" c="dimmed" className="one-line">
        from {row.from}
      </Text>
    </NavLink>
  )
}
