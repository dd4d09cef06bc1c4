import { Button, Text } from '@mantine/core'
import { IconDownload, IconPencil, IconTrash } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import { keys } from '../../api/keys.ts'
import type { Contact } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { emailText } from '../../ui/email-text.ts'
import { Facts } from '../../ui/facts.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { attributeText, byName, typeLabels, typeOf } from './attributes.ts'
import { ContactForm } from './contact-form.tsx'
import { ContactGroups } from './contact-groups.tsx'
import { ContactStatusBadge } from './contact-status.tsx'
import { nameOf } from './contact-table.tsx'
import { ContactTimeline } from './contact-timeline.tsx'
import { changeContact, contactQuery, eraseContact, exportContact, useRefreshContacts } from './contacts.api.ts'

const back = { to: paths.contacts, label: 'Contacts' }

export function ContactPage() {
  const { id = '' } = useParams()
  const contact = useQuery(contactQuery(id))
  if (contact.data) return <ContactView contact={contact.data} />
  return (
    <Page title="Contact" back={back}>
      <Load query={contact}>{() => null}</Load>
    </Page>
  )
}

function ContactView({ contact }: { contact: Contact }) {
  const [dialog, setDialog] = useState<ContactDialog>()
  const refresh = useRefreshContacts()
  const subscription = useMutation({
    mutationFn: (status: 'subscribed' | 'unsubscribed') => changeContact(contact.id, { status }),
    onSuccess: () => refresh(),
  })
  return (
    <Page
      title={emailText(contact.email)}
      beside={<ContactStatusBadge status={contact.status} />}
      description={nameOf(contact)}
      back={back}
      actions={
        <>
          {contact.status !== 'suppressed' && (
            <Button
              variant="default"
              loading={subscription.isPending}
              onClick={() => {
                if (contact.status === 'unsubscribed') setDialog('subscribe')
                else subscription.mutate(contact.status === 'subscribed' ? 'unsubscribed' : 'subscribed')
              }}
            >
              {contact.status === 'subscribed' ? 'Unsubscribe' : 'Subscribe'}
            </Button>
          )}
          <Button leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setDialog('edit')}>
            Edit
          </Button>
          <ContactMenu contact={contact} />
        </>
      }
    >
      {subscription.isError && <ErrorLine>{messageOf(subscription.error)}</ErrorLine>}
      <ContactFacts contact={contact} />
      <ContactAttributes contact={contact} />
      <ContactGroups contact={contact} />
      <ContactTimeline contactId={contact.id} />
      <ContactDialogs contact={contact} dialog={dialog} close={() => setDialog(undefined)} />
    </Page>
  )
}

function ContactMenu({ contact }: { contact: Contact }) {
  const refresh = useRefreshContacts()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const save = useMutation({
    mutationFn: () => exportContact(contact.id),
    onSuccess: (data) => download(`${contact.id}.json`, 'application/json', `${JSON.stringify(data, null, 2)}\n`),
    onError: (error) => toast(messageOf(error), 'bad'),
  })
  return (
    <ActionMenu
      loading={save.isPending}
      actions={[
        { label: 'Export data', icon: IconDownload, run: () => save.mutate() },
        {
          label: 'Erase contact',
          icon: IconTrash,
          danger: true,
          confirm: {
            title: 'Erase contact',
            action: 'Erase permanently',
            typed: emailText(contact.email),
            children:
              'Erases the email, name, attributes and all other personal data of this contact, including in past emails. Aggregate statistics are kept. This can’t be undone.',
            run: async () => {
              await eraseContact(contact.id)
              await navigate(paths.contacts)
              queries.removeQueries({ queryKey: keys.contact(contact.id) })
              await refresh()
              toast('Contact erased.')
            },
          },
        },
      ]}
    />
  )
}

type ContactDialog = 'edit' | 'subscribe'
type DialogsProps = { contact: Contact; dialog: ContactDialog | undefined; close: () => void }

function ContactDialogs({ contact, dialog, close }: DialogsProps) {
  const refresh = useRefreshContacts()
  const subscribe = async () => {
    await changeContact(contact.id, { status: 'subscribed' })
    await refresh()
  }
  const saved = () => {
    void refresh()
    close()
    toast('Contact saved.')
  }
  return (
    <>
      <Dialog opened={dialog === 'edit'} onClose={close} title="Edit contact">
        <ContactForm
          contact={contact}
          action="Save"
          save={(input) => changeContact(contact.id, input)}
          onSaved={saved}
          onCancel={close}
        />
      </Dialog>
      <Confirm
        opened={dialog === 'subscribe'}
        onClose={close}
        title="Subscribe again?"
        action="Subscribe again"
        run={subscribe}
      >
        <strong>{emailText(contact.email)}</strong> unsubscribed and will receive marketing emails again. Only continue
        if they asked for it.
      </Confirm>
    </>
  )
}

function ContactFacts({ contact }: { contact: Contact }) {
  return (
    <Facts
      facts={[
        ['Contact ID', <Copyable key="id" value={contact.id} label="Copy contact ID" />],
        ['Added', <Time key="added" at={contact.created_at} />],
        ['Last active', <Time key="active" at={contact.last_active_at} />],
      ]}
    />
  )
}

type Attribute = [name: string, value: unknown]

const attributeColumns: Column<Attribute>[] = [
  { header: 'Name', phone: 'title', cell: ([name]) => <Text fw={500}>{name}</Text> },
  { header: 'Type', width: '120px', cell: ([, value]) => typeLabels[typeOf(value)] },
  { header: 'Value', cell: ([, value]) => <Text className="break">{attributeText(value)}</Text> },
]

function ContactAttributes({ contact }: { contact: Contact }) {
  const attributes = byName(contact.attributes)
  if (attributes.length === 0) return null
  return (
    <Section title="Attributes">
      <DataTable label="Attributes" columns={attributeColumns} rows={attributes} rowKey={([name]) => name} />
    </Section>
  )
}
