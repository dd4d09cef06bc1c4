import { Button, Text } from '@mantine/core'
import { IconDevicesOff } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { SignedInSession } from '../../api/types.ts'
import { useSignOutEverywhere } from '../../shell/sign-out.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { endOtherSession, sessionsQuery } from '../session/session.api.ts'

export function SessionList() {
  const sessions = useQuery(sessionsQuery)
  const invalidate = useInvalidate()
  const signOutEverywhere = useSignOutEverywhere()
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
        <ConfirmButton leftSection={<IconDevicesOff size={16} aria-hidden />} confirm={signOutEverywhere}>
          Sign out everywhere
        </ConfirmButton>
      }
    >
      {end.isError && <ErrorLine>{messageOf(end.error)}</ErrorLine>}
      <Load query={sessions}>
        {(list) => <DataTable label="Sessions" columns={columns} rows={list} rowKey={(session) => session.id} />}
      </Load>
    </Section>
  )
}
