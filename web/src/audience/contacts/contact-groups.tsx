import { Group, Pill, Select, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { messageOf } from '../../api/api-error.ts'
import type { Contact } from '../../api/types.ts'
import { Section } from '../../ui/section.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { addToGroup, groupsQuery, removeFromGroup, useRefreshContacts } from './contacts.api.ts'

export function ContactGroups({ contact }: { contact: Contact }) {
  const groups = useQuery(groupsQuery)
  const refresh = useRefreshContacts()
  const change = useMutation({
    mutationFn: ({ id, member }: { id: string; member: boolean }): Promise<unknown> =>
      member ? addToGroup(id, contact.id) : removeFromGroup(id, contact.id),
    onSuccess: () => refresh(),
  })
  const others = (groups.data ?? []).filter((group) => !contact.groups.some((own) => own.id === group.id))
  return (
    <Section title="Groups">
      <Group gap="xs">
        {contact.groups.length === 0 && <Text c="dimmed">Not in any group</Text>}
        {contact.groups.map((group) => (
          <Pill
            key={group.id}
            size="md"
            withRemoveButton
            onRemove={() => change.mutate({ id: group.id, member: false })}
            removeButtonProps={{ 'aria-label': `Remove from ${group.name}`, 'aria-hidden': false, tabIndex: 0 }}
          >
            {group.name}
          </Pill>
        ))}
        {others.length > 0 && (
          <Select
            aria-label="Add to group"
            placeholder="Add to group"
            size="xs"
            w={180}
            searchable
            data={others.map((group) => ({ value: group.id, label: group.name }))}
            value={null}
            onChange={(id) => id && change.mutate({ id, member: true })}
          />
        )}
      </Group>
      {change.isError && <ErrorLine>{messageOf(change.error)}</ErrorLine>}
    </Section>
  )
}
