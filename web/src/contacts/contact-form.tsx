import { Button, Group, MultiSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import type { Contact, NewContact } from '../api/types.ts'
import { ErrorLine } from '../ui/states.tsx'
import { groupsQuery } from './contacts.api.ts'

const shownPaths = ['email', 'first_name', 'last_name', 'attributes']

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
  const [email, setEmail] = useState(contact?.email ?? '')
  const [firstName, setFirstName] = useState(contact?.first_name ?? '')
  const [lastName, setLastName] = useState(contact?.last_name ?? '')
  const [attributes, setAttributes] = useState(JSON.stringify(contact?.attributes ?? {}, null, 2))
  const [groupIds, setGroupIds] = useState<string[]>([])
  const parsed = parseAttributes(attributes)
  const saving = useMutation({
    mutationFn: () =>
      save({
        email: email.trim(),
        first_name: firstName.trim() || null,
        last_name: lastName.trim() || null,
        attributes: parsed ?? {},
        ...(withGroups && { group_ids: groupIds }),
      }),
  })
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        // Not called after the form is closed: a cancelled form must not navigate to the contact's page.
        if (parsed) saving.mutate(undefined, { onSuccess: onSaved })
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="Email"
          type="email"
          required
          data-autofocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldProblem(saving.error, 'email')}
        />
        <Group grow align="flex-start">
          <TextInput
            label="First name"
            value={firstName}
            onChange={(event) => setFirstName(event.currentTarget.value)}
            error={fieldProblem(saving.error, 'first_name')}
          />
          <TextInput
            label="Last name"
            value={lastName}
            onChange={(event) => setLastName(event.currentTarget.value)}
            error={fieldProblem(saving.error, 'last_name')}
          />
        </Group>
        {withGroups && (
          <MultiSelect
            label="Groups"
            placeholder={groupIds.length === 0 ? 'None' : ''}
            data={groups.data?.map((group) => ({ value: group.id, label: group.name })) ?? []}
            value={groupIds}
            onChange={setGroupIds}
            searchable
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
          value={attributes}
          onChange={(event) => setAttributes(event.currentTarget.value)}
          error={parsed ? fieldProblem(saving.error, 'attributes') : 'Enter a JSON object, like {"plan": "pro"}.'}
        />
        <ErrorLine>{formProblem(saving.error, shownPaths)}</ErrorLine>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={saving.isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
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
