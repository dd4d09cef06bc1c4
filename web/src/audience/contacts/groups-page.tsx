import { Button, TextInput } from '@mantine/core'
import { IconPlus, IconUsersGroup } from '@tabler/icons-react'
import { useState } from 'react'
import type { Group } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { CopyIdItem } from '../../ui/copy-id-item.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { TableList } from '../../ui/list.tsx'
import { count } from '../../ui/numbers.ts'
import { RowLink } from '../../ui/row-link.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { createGroup, deleteGroup, renameGroup, useGroups, useRefreshContacts } from './contacts.api.ts'
import { ContactsFrame } from './contacts-frame.tsx'

export function GroupsPage() {
  const { filter, field, filtered } = useFilters('query')
  const groups = useGroups(filter.query)
  const refresh = useRefreshContacts()
  const [dialog, setDialog] = useState<{ group?: Group }>()
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setDialog({})}>
      Create group
    </Button>
  )
  return (
    <ContactsFrame tab="Groups" actions={add}>
      <TableList
        label="Groups"
        query={groups}
        columns={columns({ rename: (group) => setDialog({ group }), refresh })}
        rowKey={({ id }) => id}
        filters={<SearchField label="Search groups" {...field('query')} />}
        empty={{
          title: 'No groups yet',
          icon: IconUsersGroup,
          action: add,
          children: 'Use groups to organize contacts. Add members by CSV import or through the API.',
        }}
        notFound={filtered && { title: 'No groups found', children: 'Try another search.' }}
      />
      {dialog && <NameDialog {...dialog} onClose={() => setDialog(undefined)} />}
    </ContactsFrame>
  )
}

type Actions = { rename: (group: Group) => void; refresh: () => Promise<unknown> }

const columns = ({ rename, refresh }: Actions): Column<Group>[] => [
  {
    header: 'Group',
    phone: 'title',
    cell: (group) => <RowLink to={`${paths.contacts}?group=${group.id}`}>{group.name}</RowLink>,
  },
  { header: 'Members', align: 'right', cell: (group) => count(group.member_count) },
  {
    header: 'Actions',
    align: 'right',
    phone: 'corner',
    cell: (group) => (
      <ActionMenu
        row={group.name}
        actions={[
          { label: 'Rename', run: () => rename(group) },
          {
            label: 'Delete',
            danger: true,
            confirm: {
              title: 'Delete group',
              action: 'Delete group',
              children: (
                <>
                  <strong>{group.name}</strong> will be deleted. Its members remain contacts.
                </>
              ),
              run: async () => {
                await deleteGroup(group.id)
                await refresh()
              },
            },
          },
        ]}
      >
        <CopyIdItem id={group.id} />
      </ActionMenu>
    ),
  },
]

function NameDialog({ group, onClose }: { group?: Group; onClose: () => void }) {
  const refresh = useRefreshContacts()
  const form = useRequestForm({
    initialValues: { name: group?.name ?? '' },
    send: ({ name }) => (group ? renameGroup(group.id, name.trim()) : createGroup(name.trim())),
    onSuccess: async () => {
      await refresh()
      onClose()
    },
  })
  return (
    <Dialog opened onClose={onClose} title={group ? 'Rename group' : 'Create group'}>
      <DialogForm form={form} action={group ? 'Rename group' : 'Create group'} onCancel={onClose}>
        <TextInput label="Name" required data-autofocus maxLength={200} {...form.field('name')} />
      </DialogForm>
    </Dialog>
  )
}
