import { Group, MultiSelect, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Contact, NewContact } from '../../api/types.ts'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { AttributeFields } from './attribute-fields.tsx'
import { attributesOf, problemOf, rowsOf } from './attributes.ts'
import { groupsQuery } from './contacts.api.ts'
import { type Subscription, SubscriptionChoice } from './subscription-choice.tsx'

type Props = {
  contact?: Contact
  action: string
  /** Asks for groups and the subscription. */
  isNew?: boolean
  save: (input: NewContact) => Promise<Contact>
  onSaved: (contact: Contact) => void
  onCancel: () => void
}

export function ContactForm({ contact, action, isNew, save, onSaved, onCancel }: Props) {
  const groups = useQuery(groupsQuery)
  const form = useRequestForm({
    initialValues: {
      email: contact?.email ?? '',
      first_name: contact?.first_name ?? '',
      last_name: contact?.last_name ?? '',
      attributes: rowsOf(contact?.attributes ?? {}),
      group_ids: [] as string[],
      subscription: 'subscribed' as Subscription,
    },
    validate: ({ attributes }) =>
      attributes.some((row) => problemOf(row, attributes))
        ? { attributes: 'Correct the attributes marked above.' }
        : {},
    send: (values) =>
      save({
        email: values.email.trim(),
        first_name: values.first_name.trim() || null,
        last_name: values.last_name.trim() || null,
        attributes: attributesOf(values.attributes),
        ...(isNew && {
          group_ids: values.group_ids,
          subscription: values.group_ids.length > 0 ? 'subscribed' : values.subscription,
        }),
      }),
    onSaved,
  })
  return (
    <DialogForm form={form} action={action} onCancel={onCancel}>
      <TextInput label="Email" type="email" required data-autofocus {...form.field('email')} />
      <Group grow align="flex-start">
        <TextInput label="First name" {...form.field('first_name')} />
        <TextInput label="Last name" {...form.field('last_name')} />
      </Group>
      {isNew && (
        <MultiSelect
          label="Groups"
          description="Members of a group are subscribed, unless they unsubscribed before."
          placeholder={form.values.group_ids.length === 0 ? 'None' : ''}
          data={groups.data?.map((group) => ({ value: group.id, label: group.name })) ?? []}
          searchable
          {...form.field('group_ids')}
        />
      )}
      {isNew &&
        (form.values.group_ids.length === 0 ? (
          <SubscriptionChoice label="Status" {...form.field('subscription')} value={form.values.subscription} />
        ) : (
          <Text size="xs" c="dimmed">
            Add people to a group only if they opted in.
          </Text>
        ))}
      <AttributeFields {...form.field('attributes')} value={form.values.attributes} />
    </DialogForm>
  )
}
