import { Box, Button, Group, Modal, type ModalProps } from '@mantine/core'
import { useRef, useState } from 'react'
import { Notice } from './notice.tsx'
import { ReturnFocus } from './return-focus.tsx'

/**
 * A modal window. The library gives the focus back only where the window stays mounted and its opener is no menu. What
 * was typed into it does not vanish by a stray key or click: it asks first.
 */
export function Dialog({ children, onClose, ...props }: ModalProps) {
  /** The form that something was typed into since it was last sent. One that is gone has nothing to lose. */
  const typedIn = useRef<Element>(null)
  const [asking, setAsking] = useState(false)
  const close = () => {
    setAsking(false)
    onClose()
  }
  return (
    <Modal
      returnFocus={false}
      // Whoever presses this button means it.
      closeButtonProps={{ 'aria-label': 'Close', onClick: close }}
      {...props}
      onClose={() => (typedIn.current?.isConnected ? setAsking(true) : close())}
      onInput={({ target }) => {
        typedIn.current = target instanceof Element ? target.closest('form') : null
        setAsking(false)
      }}
      onSubmit={() => {
        typedIn.current = null
        setAsking(false)
      }}
    >
      <ReturnFocus />
      {asking && typedIn.current?.isConnected && <Unsaved onDiscard={close} />}
      {children}
    </Modal>
  )
}

function Unsaved({ onDiscard }: { onDiscard: () => void }) {
  return (
    <Box mb="sm">
      <Notice tone="warn" role="alert">
        <Group justify="space-between" gap="xs">
          What you typed is not saved.
          <Button size="xs" variant="default" onClick={onDiscard}>
            Discard
          </Button>
        </Group>
      </Notice>
    </Box>
  )
}
