import { Box, Button, Group, Modal, type ModalProps } from '@mantine/core'
import { useRef, useState } from 'react'
import { Notice } from './notice.tsx'
import { ReturnFocus } from './return-focus.tsx'

type Props = ModalProps & {
  /** For a form that stays open after it was saved: true from then on, so that closing does not ask. */
  saved?: boolean
}

/**
 * A modal window. It returns the focus itself, because the library does so only if the window stays mounted and was not
 * opened from a menu. Escape or a click outside asks before it discards typed text. Submitting does not lift that
 * guard, since the request may be rejected; a saved form is unmounted, or reported by `saved`.
 */
export function Dialog({ children, onClose, saved = false, ...props }: Props) {
  const typedIn = useRef<Element>(null)
  const [asking, setAsking] = useState(false)
  const hasUnsaved = () => !saved && typedIn.current?.isConnected === true
  const close = () => {
    setAsking(false)
    onClose()
  }
  return (
    <Modal
      returnFocus={false}
      // This button is pressed on purpose, so it does not ask.
      closeButtonProps={{ 'aria-label': 'Close', onClick: close }}
      {...props}
      onClose={() => (hasUnsaved() ? setAsking(true) : close())}
      onInput={({ target }) => {
        typedIn.current = target instanceof Element ? target.closest('form') : null
        setAsking(false)
      }}
      onSubmit={() => setAsking(false)}
    >
      <ReturnFocus />
      {asking && hasUnsaved() && <Unsaved onDiscard={close} />}
      {children}
    </Modal>
  )
}

function Unsaved({ onDiscard }: { onDiscard: () => void }) {
  return (
    <Box mb="sm">
      <Notice tone="warn" role="alert">
        <Group justify="space-between" gap="xs">
          You have unsaved changes.
          <Button size="xs" variant="default" onClick={onDiscard}>
            Discard
          </Button>
        </Group>
      </Notice>
    </Box>
  )
}
