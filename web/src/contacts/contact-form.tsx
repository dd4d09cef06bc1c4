import { Group, MultiSelect, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Contact, NewContact } from '../api/types.ts'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { groupsQuery } from './contacts.api.ts'

type Props = {
  contact?: Contact
  action: string
  withGroups?: boolean
  save: (input: NewContact) => Promise<Contact>
  onSaved: (contact: Contact) => void
  onCancel: () => void
}

export function ContactForm({ contact, action, withGroups, save, onSaved, onCancel }: Props) {
  const groups = useQuery(groupsQuery)
  const form = useRequestForm({
    initialValues: {
      email: contact?.email ?? '',
      first_name: contact?.first_name ?? '',
      last_name: contact?.last_name ?? '',
      attributes: JSON.stringify(contact?.attributes ?? {}, null, 2),
      group_ids: [] as string[],
    },
    validate: ({ attributes }) =>
      parseAttributes(attributes) ? {} : { attributes: 'Enter a JSON object, like {"plan": "pro"}.' },
    validateOnChange: ['attributes'],
    send: (values) =>
      save({
        email: values.email.trim(),
        first_name: values.first_name.trim() || null,
        last_name: values.last_name.trim() || null,
        attributes: parseAttributes(values.attributes) ?? {},
        ...(withGroups && { group_ids: values.group_ids }),
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
      {withGroups && (
        <MultiSelect
          label="Groups"
          placeholder={form.values.group_ids.length === 0 ? 'None' : ''}
          data={groups.data?.map((group) => ({ value: group.id, label: group.name })) ?? []}
          searchable
          {...form.field('group_ids')}
        />
      )}
      <Textarea
        label="Attributes"
        description="A JSON object. Use attributes in templates, for example {{ contact.attributes.plan }}."
        autosize
        minRows={3}
        maxRows={12}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...form.field('attributes')}
      />
    </DialogForm>
  )
}

function parseAttributes(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The field shows the error.
  }
  return undefined
}
