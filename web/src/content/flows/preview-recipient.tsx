import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { emailText } from '../../ui/email-text.ts'
import { contactChoicesQuery } from './flows.api.ts'

const typingPauseMs = 250

export type PreviewContact = { id: string; email: string; first_name: string | null; last_name: string | null }

type Props = {
  /** What identifies the chosen contact. */
  by: 'id' | 'email'
  recipient: string | null
  setRecipient: (recipient: string | null) => void
  placeholder: string
  clearLabel: string
  /** Offered before anything is typed, instead of the newest contacts. */
  choices?: PreviewContact[]
}

/** Chooses the contact whose name and attributes the preview shows. */
export function PreviewRecipient({ by, recipient, setRecipient, placeholder, clearLabel, choices = [] }: Props) {
  const [typed, setTyped] = useState('')
  const [query] = useDebouncedValue(typed.trim(), typingPauseMs)
  const contacts = useQuery(contactChoicesQuery(query))
  const [chosenLabel, setChosenLabel] = useState<string>()
  // The label of the chosen contact is not a search.
  const isTyping = query !== '' && query !== chosenLabel && !choices.some((contact) => labelOf(contact) === query)
  const offered = choices.length > 0 && !isTyping ? choices : (contacts.data ?? [])
  const options = offered.map((contact) => ({ value: contact[by], label: labelOf(contact) }))
  // The recipient of a broadcast may have been chosen automatically.
  const known = choices.find((contact) => contact[by] === recipient)
  const label = chosenLabel ?? (known ? labelOf(known) : emailText(recipient ?? ''))
  const chosen = recipient === null ? [] : [{ value: recipient, label }]
  return (
    <Select
      label="Recipient"
      placeholder={placeholder}
      size="xs"
      mb="sm"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': clearLabel }}
      nothingFoundMessage={contacts.isFetching ? 'Searching…' : 'No contacts found'}
      // The server searches, also in names that the label does not contain.
      filter={({ options }) => options}
      data={[...chosen.filter(({ value }) => !options.some((each) => each.value === value)), ...options]}
      value={recipient}
      onChange={(value, option) => {
        setChosenLabel(option?.label)
        setRecipient(value)
      }}
      onSearchChange={setTyped}
    />
  )
}

function labelOf({ email, first_name, last_name }: PreviewContact): string {
  const name = [first_name, last_name].filter(Boolean).join(' ')
  return name ? `${name}, ${emailText(email)}` : emailText(email)
}
