import { Button } from '@mantine/core'
import { IconPlus, IconUpload, IconUsers } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { ContactOrder, ContactQuery, ContactStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { useCreateRequest } from '../../ui/create-request.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ExportButton } from '../../ui/export-button.tsx'
import { ListFrame } from '../../ui/list.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { exportContacts } from './bulk.api.ts'
import { BulkBar, nobody, SelectAll, type Selected } from './bulk-bar.tsx'
import { ContactFilters, filterNames } from './contact-filters.tsx'
import { ContactForm } from './contact-form.tsx'
import { ContactTable } from './contact-table.tsx'
import { createContact, useContacts, useRefreshContacts } from './contacts.api.ts'
import { ContactsFrame } from './contacts-frame.tsx'

export function ContactsPage() {
  const { filter, set, field } = useFilters(...filterNames)
  const asked: ContactQuery = {
    query: filter.query,
    group_id: filter.group,
    segment_id: filter.segment,
    import_id: filter.import,
    status: filter.status as ContactStatus | '',
    filter: filter.filter,
  }
  const filtered = Object.values(asked).some(Boolean)
  const contacts = useContacts(asked, filter.sort as ContactOrder | '')
  const [adding, setAdding] = useState(false)
  useCreateRequest(() => setAdding(true))
  const [selected, setSelected] = useSelected(JSON.stringify(asked))
  const isSelected = (id: string) => selected.all || selected.ids.has(id)
  const toggle = (id: string) => {
    // Deselecting one of all leaves those that are shown.
    const ids = new Set(selected.all ? contacts.data?.map((contact) => contact.id) : selected.ids)
    if (!ids.delete(id)) ids.add(id)
    setSelected({ ids, all: false })
  }
  const actions = (
    <>
      <ExportButton run={() => exportContacts(asked)} />
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
      <ContactFilters {...{ filter, set, field }} />
      <BulkBar shown={contacts.data ?? []} asked={asked} selected={selected} onSelect={setSelected} />
      <ListFrame
        query={contacts}
        empty={{
          title: 'No contacts yet',
          icon: IconUsers,
          action: actions,
          children: 'Add a contact, import a CSV file, or add group members through the API.',
        }}
        notFound={filtered && { title: 'No contacts found', children: 'Try another search or filter.' }}
      >
        {(list) => (
          <ContactTable
            contacts={list}
            select={{ isSelected, toggle, all: <SelectAll shown={list} selected={selected} onSelect={setSelected} /> }}
          />
        )}
      </ListFrame>
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </ContactsFrame>
  )
}

/** The selection, which ends when the filters change. */
function useSelected(filter: string) {
  const [{ selected, of }, set] = useState({ selected: nobody, of: filter })
  return [of === filter ? selected : nobody, (next: Selected) => set({ selected: next, of: filter })] as const
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const refresh = useRefreshContacts()
  const navigate = useNavigate()
  return (
    <Dialog opened onClose={onClose} title="Add contact">
      <ContactForm
        action="Add contact"
        isNew
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
