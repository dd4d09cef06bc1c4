import { Button, Checkbox, Group, Select, Stack, Switch, Text } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Invitation, Member, Role } from '../api/types.ts'
import { useMe } from '../session/session.api.ts'
import { useSignOut } from '../shell/sign-out.ts'
import { Confirm } from '../ui/confirm.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Section } from '../ui/section.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toast.tsx'
import { webhooksQuery } from '../webhooks/webhooks.api.ts'
import { InviteDialog } from './invite-dialog.tsx'
import {
  apiKeysQuery,
  changeMember,
  invitationsQuery,
  type MemberChanges,
  membersQuery,
  removeMember,
  resendInvitation,
  revokeInvitation,
} from './settings.api.ts'

const roles: Record<Role, string> = { owner: 'Owner', member: 'Member' }
export const roleOptions = Object.entries(roles).map(([value, label]) => ({ value, label }))

export function TeamPage() {
  const me = useMe()
  const owner = me.data?.role === 'owner'
  const [inviting, setInviting] = useState(false)
  return (
    <>
      <Section
        title="Team"
        titleHidden
        description="Owners manage the team and the organization. Members can do everything else; owners decide which of them start broadcasts."
        actions={
          owner && (
            <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
              Invite member
            </Button>
          )
        }
      >
        <Members owner={owner} myId={me.data?.user.id} />
      </Section>
      {owner && <Invitations />}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  )
}

type MembersProps = { owner: boolean; myId: string | undefined }

function Members({ owner, myId }: MembersProps) {
  const members = useQuery(membersQuery)
  const invalidate = useInvalidate()
  const [removing, setRemoving] = useState<Member>()
  const change = useMutation({
    mutationFn: ({ id, changes }: { id: string; changes: MemberChanges }) => changeMember(id, changes),
    onSettled: () => invalidate(keys.members, keys.me),
  })
  const columns = memberColumns({
    owner,
    myId,
    change: (id, changes) => change.mutate({ id, changes }),
    remove: setRemoving,
  })
  return (
    <Stack gap="sm">
      {change.isError && <ErrorLine>{messageOf(change.error)}</ErrorLine>}
      <Load query={members}>
        {(list) => <DataTable label="Members" columns={columns} rows={list} rowKey={(member) => member.id} />}
      </Load>
      <Leave member={removing?.id === myId ? removing : undefined} onClose={() => setRemoving(undefined)} />
      <Remove member={removing?.id === myId ? undefined : removing} onClose={() => setRemoving(undefined)} />
    </Stack>
  )
}

/** API keys and webhooks keep working without their creator, so the owner decides about them here. */
function Remove({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const invalidate = useInvalidate()
  const apiKeys = useQuery({ ...apiKeysQuery, enabled: member !== undefined })
  const webhooks = useQuery({ ...webhooksQuery, enabled: member !== undefined })
  const [revokeApiKeys, setRevokeApiKeys] = useState(true)
  const [pauseWebhooks, setPauseWebhooks] = useState(true)
  const byMember = <Item extends { name: string; created_by: { id: string } | null }>(list: Item[] | undefined) =>
    (list ?? []).filter((item) => member && item.created_by?.id === member.id).map((item) => item.name)
  const [keyNames, webhookNames] = [byMember(apiKeys.data), byMember(webhooks.data)]
  return (
    <Confirm
      opened={member !== undefined}
      onClose={onClose}
      title="Remove from team"
      action="Remove member"
      run={async () => {
        if (member) await removeMember(member.id, { revokeApiKeys, pauseWebhooks })
        await invalidate(keys.members, keys.invitations, keys.apiKeys, keys.webhooks)
      }}
    >
      <Stack gap="sm">
        <Text>
          <strong>{member?.email}</strong> will lose access immediately, and the invitations they created will be
          revoked.
        </Text>
        {keyNames.length > 0 && (
          <Checkbox
            label={`Revoke API keys they created: ${keyNames.join(', ')}`}
            description="Apps that use these keys lose access within seconds."
            checked={revokeApiKeys}
            onChange={(event) => setRevokeApiKeys(event.currentTarget.checked)}
          />
        )}
        {webhookNames.length > 0 && (
          <Checkbox
            label={`Pause webhooks they created: ${webhookNames.join(', ')}`}
            description="You can resume them and replay missed events later."
            checked={pauseWebhooks}
            onChange={(event) => setPauseWebhooks(event.currentTarget.checked)}
          />
        )}
      </Stack>
    </Confirm>
  )
}

/** For the own row: leaving also ends the session. */
function Leave({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const me = useMe()
  const signOut = useSignOut()
  const organization = me.data?.organization.name ?? 'the organization'
  return (
    <Confirm
      opened={member !== undefined}
      onClose={onClose}
      title="Leave team"
      action="Leave team"
      run={async () => {
        if (!member) return
        await removeMember(member.id)
        signOut()
        toast(`You left ${organization}.`)
      }}
    >
      You will lose access to <strong>{organization}</strong> immediately and be signed out. Everything you created is
      kept. To come back, you need a new invitation.
    </Confirm>
  )
}

type MemberActions = MembersProps & {
  change: (id: string, changes: MemberChanges) => void
  remove: (member: Member) => void
}

const memberColumns = ({ owner, myId, change, remove }: MemberActions): Column<Member>[] => [
  {
    header: 'Member',
    phone: 'title',
    cell: (member) => (
      <>
        <Text fw={600} className="break">
          {member.name ?? member.email}{' '}
          {member.id === myId && (
            <Text span c="dimmed">
              (you)
            </Text>
          )}
        </Text>
        {member.name && (
          <Text size="sm" c="dimmed" className="break">
            {member.email}
          </Text>
        )}
      </>
    ),
  },
  {
    header: 'Role',
    cell: (member) =>
      owner ? (
        <Select
          aria-label={`Role of ${member.email}`}
          size="xs"
          w={120}
          data={roleOptions}
          value={member.role}
          allowDeselect={false}
          onChange={(role) => role && change(member.id, { role: role as Role })}
        />
      ) : (
        roles[member.role]
      ),
  },
  {
    header: 'Starts broadcasts',
    cell: (member) =>
      owner && member.role !== 'owner' ? (
        <Switch
          aria-label={`${member.email} can start broadcasts`}
          checked={member.can_start_broadcasts}
          onChange={(event) => change(member.id, { can_start_broadcasts: event.currentTarget.checked })}
        />
      ) : member.can_start_broadcasts ? (
        'Yes'
      ) : (
        'No'
      ),
  },
  { header: 'Last sign-in', align: 'right', cell: (member) => <Time at={member.last_login_at} /> },
  { header: 'Joined', align: 'right', cell: (member) => <Time at={member.created_at} /> },
  ...(owner ? [removeColumn({ myId, remove })] : []),
]

const removeColumn = ({ myId, remove }: Pick<MemberActions, 'myId' | 'remove'>): Column<Member> => ({
  header: 'Actions',
  align: 'right',
  phone: 'bare',
  cell: (member) => (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={member.id === myId ? 'Leave team' : `Remove ${member.email}`}
      onClick={() => remove(member)}
    >
      {member.id === myId ? 'Leave' : 'Remove'}
    </Button>
  ),
})

function Invitations() {
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
