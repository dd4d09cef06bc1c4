import { Box, Checkbox, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Contact } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { emailText } from '../../ui/email-text.ts'
import { RowLink } from '../../ui/row-link.tsx'
import { Time } from '../../ui/time.tsx'
import { ContactStatusBadge } from './contact-status.tsx'

export const nameOf = (contact: Contact) => [contact.first_name, contact.last_name].filter(Boolean).join(' ')

const contactColumns: Column<Contact>[] = [
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
  { header: 'Last active', align: 'right', cell: (contact) => <Time at={contact.last_active_at} /> },
  { header: 'Added', align: 'right', cell: (contact) => <Time at={contact.created_at} /> },
]

type Props = {
  contacts: Contact[]
  /** Adds a checkbox to each row, and one for all of them to the head. */
  select?: { isSelected: (id: string) => boolean; toggle: (id: string) => void; all: ReactNode }
}

export function ContactTable({ contacts, select }: Props) {
  const checkbox: Column<Contact>[] = select
    ? [
        {
          header: 'Selected',
          heading: <Box visibleFrom="sm">{select.all}</Box>,
          width: '40px',
          phone: 'corner',
          cell: ({ id, email }) => (
            <Checkbox
              aria-label={`Select ${emailText(email)}`}
              checked={select.isSelected(id)}
              onChange={() => select.toggle(id)}
            />
          ),
        },
      ]
    : []
  return (
    <DataTable
      label="Contacts"
      columns={[...checkbox, ...contactColumns]}
      rows={contacts}
      rowKey={(contact) => contact.id}
    />
  )
}
