import { Button, Select, Text } from '@mantine/core'
import { IconPlus, IconUpload, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { Contact, ContactStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { emailText } from '../ui/email-text.ts'
import { Filters } from '../ui/filters.tsx'
import { More } from '../ui/more.tsx'
import { RowLink } from '../ui/row-link.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { ContactForm } from './contact-form.tsx'
import { ContactStatusBadge, contactStatusOptions } from './contact-status.tsx'
import { createContact, groupsQuery, useContacts, useRefreshContacts } from './contacts.api.ts'
import { ContactsFrame } from './contacts-frame.tsx'

export const nameOf = (contact: Contact) => [contact.first_name, contact.last_name].filter(Boolean).join(' ')

const columns: Column<Contact>[] = [
  {
    header: 'Contact',
    phone: 'title',
    minWidth: '260px',
    cell: (contact) => (
      <>
        <RowLink to={paths.contact(contact.id)}>{emailText(contact.email)}</RowLink>
        <Text size="xs" c="dimmed" fw={400}>
          {nameOf(contact)}
        </Text>
      </>
    ),
  },
  { header: 'Status', cell: (contact) => <ContactStatusBadge status={contact.status} /> },
  {
    header: 'Groups',
    cell: (contact) => (
      <Text className="break" miw={90}>
        {contact.groups.map((group) => group.name).join(', ') || '–'}
      </Text>
    ),
  },
  { header: 'Added', align: 'right', cell: (contact) => <Time at={contact.created_at} /> },
]

export function ContactsPage() {
  const { filter, set, filtered } = useFilters('query', 'group', 'status')
  const { query, group, status } = filter
  const contacts = useContacts({ query, group_id: group, status: status as ContactStatus | '' })
  const [adding, setAdding] = useState(false)
  const actions = (
    <>
      <Button
        component={Link}
        to={paths.newImport}
        variant="default"
        leftSection={<IconUpload size={16} aria-hidden />}
      >
        Import CSV
      </Button>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
        Add contact
      </Button>
    </>
  )
  return (
    <ContactsFrame actions={actions}>
      <ContactFilters filter={filter} set={set} />
      <Load
        query={contacts}
        isEmpty={(list) => list.length === 0}
        empty={
          filtered ? (
            <Empty title="No contacts found">Try another search, group or status.</Empty>
          ) : (
            <Empty title="No contacts yet" icon={<IconUsers size={32} aria-hidden />} action={actions}>
              Add a contact, import a CSV file, or add group members through the API.
            </Empty>
          )
        }
      >
        {(list) => <DataTable label="Contacts" columns={columns} rows={list} rowKey={(contact) => contact.id} />}
      </Load>
      <More pages={contacts} />
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </ContactsFrame>
  )
}

type FiltersProps = {
  filter: { query: string; group: string; status: string }
  set: (name: 'query' | 'group' | 'status', value: string | null) => void
}

function ContactFilters({ filter, set }: FiltersProps) {
  const groups = useQuery(groupsQuery)
  return (
    <Filters>
      <SearchField
        label="Search contacts"
        placeholder="Search by email or name"
        value={filter.query}
        onChange={(value) => set('query', value)}
      />
      <Select
        aria-label="Group"
        placeholder="All groups"
        clearable
        searchable
        data={groups.data?.map((group) => ({ value: group.id, label: group.name })) ?? []}
        value={filter.group || null}
        onChange={(value) => set('group', value)}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        data={contactStatusOptions}
        value={filter.status || null}
        onChange={(value) => set('status', value)}
      />
    </Filters>
  )
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const refresh = useRefreshContacts()
  const navigate = useNavigate()
  return (
    <Dialog opened onClose={onClose} title="Add contact">
      <ContactForm
        action="Add contact"
        withGroups
        save={createContact}
        onSaved={(contact) => {
          void refresh()
          void navigate(paths.contact(contact.id))
        }}
        onCancel={onClose}
      />
    </Dialog>
  )
}
