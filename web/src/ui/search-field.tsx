import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'

const typingPauseMs = 250

type Props = { label: string; placeholder?: string; value: string; onChange: (value: string) => void }

/** Asks once the person pauses, not at every key. */
export function SearchField({ label, placeholder, value, onChange }: Props) {
  const [text, setText] = useState(value)
  const ask = useDebouncedCallback(onChange, typingPauseMs)
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder ?? label}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        ask(event.currentTarget.value.trim())
      }}
      rightSection={
        text && (
          <CloseButton
            size="sm"
            aria-label="Clear search"
            onClick={() => {
              setText('')
              onChange('')
            }}
          />
        )
      }
      w={{ base: '100%', xs: 280 }}
    />
  )
}
