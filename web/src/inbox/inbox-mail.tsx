import { Anchor, Box, Group, Paper, Tabs, Text, Title } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { InboxMail } from '../api/types.ts'
import { paths } from '../paths.ts'
import { CodeBlock } from '../ui/copy.tsx'
import { MailFrame, MailText } from '../ui/mail-frame.tsx'
import { Load } from '../ui/states.tsx'
import { ExactTime } from '../ui/time.tsx'
import { inboxMailQuery } from './inbox.api.ts'

export function InboxMailView({ id }: { id: string }) {
  const mail = useQuery(inboxMailQuery(id))
  return (
    <>
      <Anchor component={Link} to={paths.inbox} size="sm" c="dimmed" hiddenFrom="sm" mb="xs" display="inline-block">
        <IconArrowLeft size={14} aria-hidden /> All emails
      </Anchor>
      <Load query={mail}>{(data) => <Mail mail={data} />}</Load>
    </>
  )
}

/** Like an email client: images load and links work, so opens and clicks here are counted. */
function Mail({ mail }: { mail: InboxMail }) {
  return (
    <Paper withBorder p="md" component="article" aria-label={mail.subject}>
      <Title order={2} className="break">
        {mail.subject}
      </Title>
      <Group justify="space-between" mt={4} mb="sm" gap="xs">
        <Box fz="sm">
          <Text span c="dimmed">
            From
          </Text>{' '}
          {mail.from}{' '}
          <Text span c="dimmed">
            to
          </Text>{' '}
          {mail.to}
        </Box>
        <Group gap="sm">
          <Text size="xs" c="dimmed">
            <ExactTime at={mail.received_at} />
          </Text>
          {mail.message_id && (
            <Anchor component={Link} to={paths.message(mail.message_id)} size="sm">
              View events
            </Anchor>
          )}
        </Group>
      </Group>
      <Tabs defaultValue={mail.html ? 'html' : 'text'} keepMounted={false}>
        <Tabs.List mb="sm">
          {mail.html && <Tabs.Tab value="html">HTML</Tabs.Tab>}
          {mail.text && <Tabs.Tab value="text">Plain text</Tabs.Tab>}
          <Tabs.Tab value="headers">Headers</Tabs.Tab>
          <Tabs.Tab value="source">Source</Tabs.Tab>
        </Tabs.List>
        {mail.html && (
          <Tabs.Panel value="html">
            <MailFrame html={mail.html} title={`Email: ${mail.subject}`} height="62vh" />
          </Tabs.Panel>
        )}
        {mail.text && (
          <Tabs.Panel value="text">
            <MailText text={mail.text} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="headers">
          <CodeBlock
            code={mail.headers.map((header) => `${header.name}: ${header.value}`).join('\n')}
            label="headers"
          />
        </Tabs.Panel>
        <Tabs.Panel value="source">
          <CodeBlock code={mail.raw} label="source" />
        </Tabs.Panel>
      </Tabs>
    </Paper>
  )
}
