import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'

const typingPauseMs = 250

type Props = { label: string; placeholder?: string; value: string; onChange: (value: string) => void }

/** Asks once the person pauses, not at every key, and follows when the search is changed from elsewhere. */
export function SearchField({ label, placeholder, value, onChange }: Props) {
  const [text, setText] = useState(value)
  const asked = useRef(value)
  const askNow = (next: string) => {
    asked.current = next
    onChange(next)
  }
  const ask = useDebouncedCallback(askNow, typingPauseMs)
  useEffect(() => {
    // What was asked from here comes back as the value, and must not undo what was typed meanwhile.
    if (value === asked.current) return
    asked.current = value
    ask.cancel()
    setText(value)
  }, [value, ask])
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
              ask.cancel()
              setText('')
              askNow('')
            }}
          />
        )
      }
      w={{ base: '100%', xs: 280 }}
    />
  )
}
