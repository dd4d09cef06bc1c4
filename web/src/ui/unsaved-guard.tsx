import { Button, Modal, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { useBlocker } from 'react-router'
import { DialogActions } from './dialog-actions.tsx'

/** Asks before leaving unsaved changes. Addresses that start with `within`, a path that may have a query, keep them. */
export function UnsavedGuard({ dirty, within }: { dirty: boolean; within: string }) {
  const blocker = useBlocker(
    ({ nextLocation: { pathname, search } }) => dirty && !`${pathname}${search}`.startsWith(within),
  )
  useEffect(() => {
    if (!dirty) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [dirty])
  return (
    <Modal
      opened={blocker.state === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="md">
        <Text>Your changes will be lost.</Text>
        <DialogActions>
          <Button variant="default" onClick={() => blocker.reset?.()}>
            Stay
          </Button>
          <Button color="red" onClick={() => blocker.proceed?.()}>
            Leave
          </Button>
        </DialogActions>
      </Stack>
    </Modal>
  )
}
