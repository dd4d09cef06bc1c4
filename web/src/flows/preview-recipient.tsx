import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { emailText } from '../ui/email-text.ts'
import { contactChoicesQuery } from './flows.api.ts'

const typingPauseMs = 250
type Props = { recipient: string | null; setRecipient: (email: string | null) => void }

/** Chooses the contact whose name and attributes the preview shows. */
export function PreviewRecipient({ recipient, setRecipient }: Props) {
  const [typed, setTyped] = useState('')
  const [query] = useDebouncedValue(typed.trim(), typingPauseMs)
  const contacts = useQuery(contactChoicesQuery(query))
  const found = contacts.data?.map(({ email, first_name, last_name }) => {
    const name = [first_name, last_name].filter(Boolean).join(' ')
    return { value: email, label: name ? `${name}, ${emailText(email)}` : emailText(email) }
  })
  const chosen = recipient === null ? [] : [{ value: recipient, label: emailText(recipient) }]
  return (
    <Select
      label="Recipient"
      placeholder="You"
      size="xs"
      mb="sm"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Preview for yourself' }}
      nothingFoundMessage={contacts.isFetching ? 'Searching…' : 'No contacts found'}
      // The server searches, also in names that the label does not contain.
      filter={({ options }) => options}
      data={[...chosen.filter(({ value }) => !found?.some((each) => each.value === value)), ...(found ?? [])]}
      value={recipient}
      onChange={setRecipient}
      onSearchChange={setTyped}
    />
  )
}
