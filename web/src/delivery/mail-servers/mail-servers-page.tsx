import { Anchor, Button, Text } from '@mantine/core'
import { IconMailForward, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { MailServer } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { GuideLink } from '../../ui/api-reference.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TableList } from '../../ui/list.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { Section } from '../../ui/section.tsx'
import { MailServerForm } from './mail-server-form.tsx'
import { carriedEmail, MailServerStatus } from './mail-server-status.tsx'
import { addMailServer, mailServersQuery } from './mail-servers.api.ts'

const columns: Column<MailServer>[] = [
  {
    header: 'Mail server',
    phone: 'title',
    cell: (server) => (
      <>
        <RowLink to={paths.mailServer(server.id)}>{server.name}</RowLink>
        <Text size="xs" c="dimmed" className="break">
          {server.host}
        </Text>
      </>
    ),
  },
  { header: 'Carries', cell: carriedEmail },
  { header: 'Priority', align: 'right', cell: ({ priority }) => priority },
  { header: 'Status', cell: (server) => <MailServerStatus server={server} /> },
]

export function MailServersPage() {
  const servers = useQuery(mailServersQuery)
  const [adding, setAdding] = useState(false)
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add mail server
    </Button>
  )
  return (
    <Section
      title="Mail servers"
      titleHidden
      description={
        <>
          Your email leaves through the first mail server in this list that carries it and works. See the{' '}
          <GuideLink name="mail-servers">guide to mail servers</GuideLink>, and the{' '}
          <Anchor component={Link} to={paths.receivingSites} underline="always" inherit>
            limits per mailbox provider
          </Anchor>
          .
        </>
      }
      actions={servers.data && servers.data.length > 0 && add}
    >
      <TableList
        label="Mail servers"
        query={servers}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{
          title: 'No mail servers yet',
          icon: IconMailForward,
          action: add,
          children: 'Your email is sent as the operator of this service has set it up. Add your provider to use it.',
        }}
      />
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </Section>
  )
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const invalidate = useInvalidate()
  const navigate = useNavigate()
  return (
    <Dialog opened onClose={onClose} size="lg" title="Add mail server">
      <MailServerForm
        action="Add mail server"
        save={addMailServer}
        onSaved={async (server) => {
          await invalidate(keys.mailServers, keys.sending, keys.me)
          await navigate(paths.mailServer(server.id))
        }}
        onCancel={onClose}
      />
    </Dialog>
  )
}
