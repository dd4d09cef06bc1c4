import { Button, TextInput } from '@mantine/core'
import { IconPlus, IconWorld } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Domain } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { GuideLink } from '../../ui/api-reference.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { TableList } from '../../ui/list.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { DomainStatus } from './domain-status.tsx'
import { addDomain, domainsQuery } from './domains.api.ts'

export function DomainsPage() {
  const domains = useQuery(domainsQuery)
  const [adding, setAdding] = useState(false)
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add domain
    </Button>
  )
  return (
    <Section
      title="Domains"
      titleHidden
      description={
        <>
          Emails from a verified domain are signed with its own key, so that receivers know they are from you. See the{' '}
          <GuideLink name="domains">guide to domains</GuideLink>.
        </>
      }
      actions={domains.data && domains.data.length > 0 && add}
    >
      <TableList
        label="Domains"
        query={domains}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{
          title: 'No domains yet',
          icon: IconWorld,
          action: add,
          children: 'Add the domain of your From addresses to get the DNS records to publish.',
        }}
      />
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </Section>
  )
}

const columns: Column<Domain>[] = [
  {
    header: 'Name',
    phone: 'title',
    cell: (domain) => <RowLink to={paths.domain(domain.id)}>{domain.name}</RowLink>,
  },
  { header: 'Status', cell: (domain) => <DomainStatus status={domain.status} /> },
  { header: 'Records found', cell: foundOf },
  { header: 'Checked', align: 'right', cell: (domain) => <Time at={domain.checked_at} none="Not yet" /> },
]

function foundOf({ records }: Domain): string {
  return `${records.filter(({ status }) => status === 'ok').length} of ${records.length}`
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const invalidate = useInvalidate()
  const navigate = useNavigate()
  const form = useRequestForm({
    initialValues: { name: '' },
    send: ({ name }) => addDomain(name.trim()),
    onSuccess: async (domain) => {
      await invalidate(keys.domains)
      await navigate(paths.domain(domain.id))
    },
  })
  return (
    <Dialog opened onClose={onClose} title="Add domain">
      <DialogForm form={form} action="Add domain" disabled={form.values.name.trim() === ''} onCancel={onClose}>
        <TextInput
          label="Domain"
          description="The part of your From addresses after the @, for example example.com"
          required
          data-autofocus
          maxLength={253}
          {...form.field('name')}
        />
      </DialogForm>
    </Dialog>
  )
}
