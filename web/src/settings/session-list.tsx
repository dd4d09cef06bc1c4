import { Button, Text } from '@mantine/core'
import { IconDevicesOff } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { SignedInSession } from '../api/types.ts'
import { endOtherSession, sessionsQuery, signOutEverywhere } from '../session/session.api.ts'
import { useSignOut } from '../shell/sign-out.ts'
import { Confirm } from '../ui/confirm.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Section } from '../ui/section.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'

export function SessionList() {
  const sessions = useQuery(sessionsQuery)
  const invalidate = useInvalidate()
  const signOut = useSignOut()
  const [leaving, setLeaving] = useState(false)
  const end = useMutation({ mutationFn: endOtherSession, onSettled: () => invalidate(keys.sessions) })
  const columns: Column<SignedInSession>[] = [
    {
      header: 'Device',
      phone: 'title',
      cell: (session) => (
        <Text fw={600} title={session.user_agent}>
          {session.device}{' '}
          {session.current && (
            <Text span c="dimmed">
              (this device)
            </Text>
          )}
        </Text>
      ),
    },
    { header: 'IP address', cell: (session) => session.ip_address || '–' },
    { header: 'Signed in', align: 'right', cell: (session) => <Time at={session.created_at} /> },
    { header: 'Last used', align: 'right', cell: (session) => <Time at={session.last_used_at} /> },
    {
      header: 'Actions',
      align: 'right',
      phone: 'bare',
      cell: (session) =>
        !session.current && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Sign out ${session.device}`}
            loading={end.isPending && end.variables === session.id}
            onClick={() => end.mutate(session.id)}
          >
            Sign out
          </Button>
        ),
    },
  ]
  return (
    <Section
      title="Sessions"
      description="Where you are signed in. A session ends after 12 hours."
      actions={
        <Button
          variant="default"
          leftSection={<IconDevicesOff size={16} aria-hidden />}
          onClick={() => setLeaving(true)}
        >
          Sign out everywhere
        </Button>
      }
    >
      {end.isError && <ErrorLine>{messageOf(end.error)}</ErrorLine>}
      <Load query={sessions}>
        {(list) => <DataTable label="Sessions" columns={columns} rows={list} rowKey={(session) => session.id} />}
      </Load>
      <Confirm
        opened={leaving}
        onClose={() => setLeaving(false)}
        title="Sign out everywhere"
        action="Sign out everywhere"
        run={async () => {
          await signOutEverywhere()
          signOut()
        }}
      >
        You will be signed out on all devices, including this one. API keys keep working.
      </Confirm>
    </Section>
  )
}
