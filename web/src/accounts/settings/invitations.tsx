import { Button, Group } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { CreatedInvitation, Invitation } from '../../api/types.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { InvitationResult, mustBeCopied } from './invitation-result.tsx'
import { roles } from './roles.ts'
import { invitationsQuery, resendInvitation, revokeInvitation } from './settings.api.ts'

export function Invitations() {
  const invitations = useQuery(invitationsQuery)
  const invalidate = useInvalidate()
  const revoke = useMutation({
    mutationFn: revokeInvitation,
    onSuccess: () => invalidate(keys.invitations),
  })
  const [toCopy, setToCopy] = useState<CreatedInvitation>()
  const resend = useMutation({
    mutationFn: resendInvitation,
    onSuccess: (invitation) => {
      const { email, email_status: status } = invitation
      if (mustBeCopied(invitation)) setToCopy(invitation)
      else if (status === 'waiting') toast(`The email to ${email} is sent as soon as the mail server accepts email.`)
      else toast(`Invitation sent to ${email}.`)
    },
    onSettled: () => invalidate(keys.invitations),
  })
  const failed = revoke.error ?? resend.error
  if (invitations.data?.length === 0) return null
  const columns: Column<Invitation>[] = [
    { header: 'Invited', phone: 'title', cell: (invitation) => invitation.email ?? 'Anyone with the link' },
    { header: 'Role', cell: (invitation) => roles[invitation.role] },
    {
      header: 'Sent',
      align: 'right',
      cell: (invitation) => <Time at={invitation.sent_at} none={invitation.email ? 'Not sent' : 'Link only'} />,
    },
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
              aria-label={`${invitation.sent_at ? 'Resend' : 'Send'} the invitation to ${invitation.email}`}
              loading={resend.isPending && resend.variables === invitation.id}
              onClick={() => resend.mutate(invitation.id)}
            >
              {invitation.sent_at ? 'Resend' : 'Send'}
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
      <Dialog
        opened={toCopy !== undefined}
        onClose={() => setToCopy(undefined)}
        title="New link"
        size="lg"
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        {toCopy && <InvitationResult invitation={toCopy} close={() => setToCopy(undefined)} />}
      </Dialog>
    </Section>
  )
}
