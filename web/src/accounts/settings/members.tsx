import { Button, Select, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Member, Role } from '../../api/types.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { LeaveDialog, RemoveDialog } from './remove-member.tsx'
import { roleOptions, roles } from './roles.ts'
import { changeMember, type MemberChanges, membersQuery } from './settings.api.ts'

type MembersProps = { mayChange: boolean; myId: string | undefined }

export function Members({ mayChange, myId }: MembersProps) {
  const members = useQuery(membersQuery)
  const invalidate = useInvalidate()
  const [removing, setRemoving] = useState<Member>()
  const change = useMutation({
    mutationFn: ({ id, changes }: { id: string; changes: MemberChanges }) => changeMember(id, changes),
    onSettled: () => invalidate(keys.members, keys.me),
  })
  const columns = memberColumns({
    mayChange,
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
      <LeaveDialog member={removing?.id === myId ? removing : undefined} onClose={() => setRemoving(undefined)} />
      <RemoveDialog member={removing?.id === myId ? undefined : removing} onClose={() => setRemoving(undefined)} />
    </Stack>
  )
}

type MemberActions = MembersProps & {
  change: (id: string, changes: MemberChanges) => void
  remove: (member: Member) => void
}

const memberColumns = ({ mayChange, myId, change, remove }: MemberActions): Column<Member>[] => [
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
      mayChange ? (
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
      mayChange && member.role !== 'owner' ? (
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
  ...(mayChange ? [removeColumn({ myId, remove })] : []),
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
