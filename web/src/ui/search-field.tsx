import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'

const typingPauseMs = 250

type Props = { label: string; placeholder?: string; value: string; onChange: (value: string) => void }

/** Reports the search when typing pauses, and follows changes of `value` from outside. */
export function SearchField({ label, placeholder, value, onChange }: Props) {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  const send = (next: string) => {
    sent.current = next
    onChange(next)
  }
  const sendLater = useDebouncedCallback(send, typingPauseMs)
  useEffect(() => {
    // The value that this field sent comes back and must not replace newer text.
    if (value === sent.current) return
    sent.current = value
    sendLater.cancel()
    setText(value)
  }, [value, sendLater])
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder ?? label}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        sendLater(event.currentTarget.value.trim())
      }}
      rightSection={
        text && (
          <CloseButton
            size="sm"
            aria-label="Clear search"
            onClick={() => {
              sendLater.cancel()
              setText('')
              send('')
            }}
          />
        )
      }
      w={{ base: '100%', xs: 280 }}
    />
  )
}
