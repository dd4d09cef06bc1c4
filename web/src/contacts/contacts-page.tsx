import { Button, Group } from '@mantine/core'
import { IconPlus, IconUpload, IconUsers } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { ContactStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import { MatchingCount } from '../segments/matching-count.tsx'
import type { ContactQuery } from '../segments/segments.api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { More } from '../ui/more.tsx'
import { Empty, Load } from '../ui/states.tsx'
import { useFilters } from '../ui/use-filters.ts'
import { ContactFilters, filterNames } from './contact-filters.tsx'
import { ContactForm } from './contact-form.tsx'
import { ContactTable } from './contact-table.tsx'
import { createContact, useContacts, useRefreshContacts } from './contacts.api.ts'
import { ContactsFrame } from './contacts-frame.tsx'

export function ContactsPage() {
  const { filter, set, filtered } = useFilters(...filterNames)
  const asked: ContactQuery = {
    query: filter.query,
    group_id: filter.group,
    segment_id: filter.segment,
    status: filter.status as ContactStatus | '',
    filter: filter.filter,
  }
  const contacts = useContacts(asked)
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
            <Empty title="No contacts found">Try another search or filter.</Empty>
          ) : (
            <Empty title="No contacts yet" icon={<IconUsers size={32} aria-hidden />} action={actions}>
              Add a contact, import a CSV file, or add group members through the API.
            </Empty>
          )
        }
      >
        {(list) => (
          <>
            <Group mb="xs">
              <MatchingCount filter={asked} />
            </Group>
            <ContactTable contacts={list} />
          </>
        )}
      </Load>
      <More pages={contacts} />
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </ContactsFrame>
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
