import { Anchor, Box, Group, Paper, Tabs, Text, Title } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { InboxEmail } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { EmailFrame, EmailText } from '../../ui/email-frame.tsx'
import { Load } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { Attachments } from '../messages/attachments.tsx'
import { inboxEmailQuery } from './inbox.api.ts'

export function InboxEmailView({ id }: { id: string }) {
  const email = useQuery(inboxEmailQuery(id))
  return (
    <>
      <Anchor component={Link} to={paths.inbox} size="sm" c="dimmed" hiddenFrom="sm" mb="xs" display="inline-block">
        <IconArrowLeft size={14} aria-hidden /> All emails
      </Anchor>
      <Load query={email}>{(data) => <Email email={data} />}</Load>
    </>
  )
}

/** Like an email client: images load and links work, so opens and clicks here are counted. */
function Email({ email }: { email: InboxEmail }) {
  return (
    <Paper withBorder p="md" component="article" aria-label={email.subject}>
      <Title order={2} className="break">
        {email.subject}
      </Title>
      <Group justify="space-between" mt={4} mb="sm" gap="xs">
        <Box fz="sm">
          <Text span c="dimmed">
            From
          </Text>{' '}
          {email.from}{' '}
          <Text span c="dimmed">
            to
          </Text>{' '}
          {email.to}
        </Box>
        <Group gap="sm">
          <Text size="xs" c="dimmed">
            <ExactTime at={email.received_at} />
          </Text>
          {!email.message_id && <StatusBadge tone="neutral">Account email</StatusBadge>}
          {email.message_id && (
            <Anchor component={Link} to={paths.message(email.message_id)} size="sm">
              View events
            </Anchor>
          )}
        </Group>
      </Group>
      {email.message_id && email.attachments.length > 0 && (
        <Box mb="sm">
          <Attachments messageId={email.message_id} attachments={email.attachments} />
        </Box>
      )}
      <Tabs defaultValue={email.html ? 'html' : 'text'} keepMounted={false}>
        <Tabs.List mb="sm">
          {email.html && <Tabs.Tab value="html">HTML</Tabs.Tab>}
          {email.text && <Tabs.Tab value="text">Plain text</Tabs.Tab>}
          <Tabs.Tab value="headers">Headers</Tabs.Tab>
          <Tabs.Tab value="source">Source</Tabs.Tab>
        </Tabs.List>
        {email.html && (
          <Tabs.Panel value="html">
            <EmailFrame html={email.html} title={`Email: ${email.subject}`} height="62vh" />
          </Tabs.Panel>
        )}
        {email.text && (
          <Tabs.Panel value="text">
            <EmailText text={email.text} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="headers">
          <CodeBlock
            code={email.headers.map((header) => `${header.name}: ${header.value}`).join('\n')}
            label="headers"
          />
        </Tabs.Panel>
        <Tabs.Panel value="source">
          <CodeBlock code={email.raw} label="source" />
        </Tabs.Panel>
      </Tabs>
    </Paper>
  )
}
