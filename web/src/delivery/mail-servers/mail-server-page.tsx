import { Button, Stack, Text } from '@mantine/core'
import { IconPencil, IconPlugConnected, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { useMay, useMe } from '../../accounts/session/session.api.ts'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { MailServer } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { AttemptTime, isSoon, Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { MailServerForm } from './mail-server-form.tsx'
import { carriedEmail, MailServerStatus } from './mail-server-status.tsx'
import { changeMailServer, deleteMailServer, mailServerQuery, testMailServer } from './mail-servers.api.ts'
import { ProviderReports } from './provider-reports.tsx'
import { TestSteps } from './test-steps.tsx'

const back = { to: paths.mailServers, label: 'Mail servers' }

export function MailServerPage() {
  const { id = '' } = useParams()
  const server = useQuery(mailServerQuery(id))
  if (server.data) return <MailServerView server={server.data} />
  return (
    <Page title="Mail server" back={back}>
      <Load query={server}>{() => null}</Load>
    </Page>
  )
}

function MailServerView({ server }: { server: MailServer }) {
  const [isEditing, setEditing] = useState(false)
  const invalidate = useInvalidate()
  const test = useMutation({
    mutationFn: () => testMailServer(server.id),
    onSuccess: () => invalidate(keys.mailServers),
  })
  return (
    <Page
      title={server.name}
      beside={<MailServerStatus server={server} />}
      back={back}
      actions={
        <>
          <Button
            leftSection={<IconPlugConnected size={16} aria-hidden />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Test connection
          </Button>
          <MailServerMenu server={server} edit={() => setEditing(true)} />
        </>
      }
    >
      <Stack gap="md">
        {test.isError && <ErrorLine>{messageOf(test.error)}</ErrorLine>}
        {test.data ? <TestSteps result={test.data} /> : <Situation server={server} />}
        <AccountEmails server={server} />
        <Facts facts={factsOf(server)} />
        <ProviderReports server={server} />
      </Stack>
      <Dialog opened={isEditing} onClose={() => setEditing(false)} size="lg" title="Edit mail server">
        {isEditing && (
          <MailServerForm
            server={server}
            action="Save"
            save={(input) => changeMailServer(server.id, input)}
            onSaved={(saved) => {
              test.reset()
              // It connects in another way than the one that was tested.
              if (saved.status === 'untested') test.mutate()
              void invalidate(keys.mailServers, keys.me)
              toast('Mail server saved.')
              setEditing(false)
            }}
            onCancel={() => setEditing(false)}
          />
        )}
      </Dialog>
    </Page>
  )
}

const securities: Record<MailServer['security'], string> = {
  tls: 'TLS from the start',
  starttls: 'STARTTLS',
  opportunistic: 'STARTTLS if offered',
  none: 'None',
}
const methods: Record<MailServer['auth'], string> = { none: 'None', password: 'Password', oauth2: 'OAuth 2' }

function factsOf(server: MailServer): [string, React.ReactNode][] {
  const { messages_per_second: perSecond, messages_per_day: perDay, connections } = server
  return [
    ['Host', `${server.host}, port ${server.port}`],
    ['Encryption', securities[server.security]],
    ['Sign-in', server.username === null ? methods[server.auth] : `${methods[server.auth]}, ${server.username}`],
    ['Carries', `${carriedEmail(server)}${server.is_shared ? ', shared with all organizations' : ''}`],
    ['Priority', `${server.priority}, weight ${server.weight}`],
    [
      'Limits',
      [
        perSecond !== null && `${perSecond.toLocaleString('en')} per second`,
        perDay !== null && `${perDay.toLocaleString('en')} per day`,
        `${connections} ${connections === 1 ? 'connection' : 'connections'}`,
        server.shape_by_receiver && 'limits per mailbox provider',
      ]
        .filter(Boolean)
        .join(', '),
    ],
    ['Tested', <Time key="tested" at={server.tested_at} />],
    ['Added', <Time key="added" at={server.created_at} />],
  ]
}

function Situation({ server }: { server: MailServer }) {
  if (server.status === 'untested')
    return (
      <Notice tone="info" title="Test the connection">
        <Text>Email goes through this mail server from now on. Test it to see whether it accepts the connection.</Text>
      </Notice>
    )
  if (server.status === 'working') return null
  return (
    <Notice tone="bad" title="This mail server doesn’t accept email">
      <Text className="break">{server.failure}</Text>
      <Text mt="xs">
        Your other mail servers carry its email meanwhile. Without one, emails wait.{' '}
        {server.next_try_at && !isSoon(server.next_try_at) ? (
          <>
            Next attempt <AttemptTime at={server.next_try_at} />.
          </>
        ) : (
          'Retrying now.'
        )}
      </Text>
    </Notice>
  )
}

function AccountEmails({ server }: { server: MailServer }) {
  const me = useMe()
  const may = useMay()
  if (server.sends_account_emails || me.data?.mail.account_emails !== 'not_sent') return null
  return (
    <Notice tone="info" title="Password resets and invitations don’t leave through this mail server">
      These emails contain sign-in links that the mail server can read, so its connection must have been set by an
      owner. {may('mail_servers:confirm') ? 'If you trust it, ' : 'Ask an owner to '}
      {server.auth === 'none' ? 'delete it and add it again.' : 'enter its password again.'}
    </Notice>
  )
}

function MailServerMenu({ server, edit }: { server: MailServer; edit: () => void }) {
  const invalidate = useInvalidate()
  const navigate = useNavigate()
  return (
    <ActionMenu
      actions={[
        { label: 'Edit', icon: IconPencil, run: edit },
        {
          label: 'Delete',
          icon: IconTrash,
          danger: true,
          confirm: {
            title: `Delete ${server.name}`,
            action: 'Delete mail server',
            children:
              'Its credentials are deleted. Emails that wait for it are sent through your other mail servers, or as the operator has set it up; one that it may have accepted already can then arrive twice. This can’t be undone.',
            run: async () => {
              await deleteMailServer(server.id)
              await navigate(paths.mailServers)
              await invalidate(keys.mailServers, keys.sending, keys.me)
              toast('Mail server deleted.')
            },
          },
        },
      ]}
    />
  )
}
