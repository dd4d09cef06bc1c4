import { Button, Group } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Invitation } from '../api/types.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Section } from '../ui/section.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toast.tsx'
import { roles } from './roles.ts'
import { invitationsQuery, resendInvitation, revokeInvitation } from './settings.api.ts'

export function Invitations() {
  const invitations = useQuery(invitationsQuery)
  const invalidate = useInvalidate()
  const revoke = useMutation({
    mutationFn: revokeInvitation,
    onSuccess: () => invalidate(keys.invitations),
  })
  const resend = useMutation({
    mutationFn: resendInvitation,
    onSuccess: ({ email }) => toast(`Invitation sent to ${email}.`),
    onSettled: () => invalidate(keys.invitations),
  })
  const failed = revoke.error ?? resend.error
  if (invitations.data?.length === 0) return null
  const columns: Column<Invitation>[] = [
    { header: 'Invited', phone: 'title', cell: (invitation) => invitation.email ?? 'Anyone with the link' },
    { header: 'Role', cell: (invitation) => roles[invitation.role] },
    { header: 'Sent', align: 'right', cell: (invitation) => <Time at={invitation.sent_at} none="Link only" /> },
    { header: 'Expires', align: 'right', cell: (invitation) => <Time at={invitation.expires_at} /> },
    {
      header: 'Actions',
      align: 'right',
      phone: 'bare',
      cell: (invitation) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {invitation.email && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Resend the invitation to ${invitation.email}`}
              loading={resend.isPending && resend.variables === invitation.id}
              onClick={() => resend.mutate(invitation.id)}
            >
              Resend
            </Button>
          )}
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Revoke the invitation for ${invitation.email ?? 'anyone with the link'}`}
            onClick={() => revoke.mutate(invitation.id)}
          >
            Revoke
          </Button>
        </Group>
      ),
    },
  ]
  return (
    <Section title="Invitations" description="Links that haven’t been used yet.">
      {failed && <ErrorLine>{messageOf(failed)}</ErrorLine>}
      <Load query={invitations}>
        {(list) => (
          <DataTable label="Invitations" columns={columns} rows={list} rowKey={(invitation) => invitation.id} />
        )}
      </Load>
    </Section>
  )
}
