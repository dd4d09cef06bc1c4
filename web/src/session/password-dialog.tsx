import { Button, Group, PasswordInput, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { changePassword } from './session.api.ts'
import { startSession } from './session.ts'

const shownPaths = ['current_password', 'new_password']

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const change = useMutation({
    mutationFn: () => changePassword({ current_password: current, new_password: next }),
    onSuccess: (signed) => {
      startSession(signed)
      toast('Password changed. You’ve been signed out on other devices.')
      onClose()
    },
  })
  return (
    <Dialog opened onClose={onClose} title="Change password">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate()
        }}
      >
        <Stack gap="sm">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            data-autofocus
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            error={fieldProblem(change.error, 'current_password')}
          />
          <PasswordInput
            label="New password"
            description="At least 10 characters"
            autoComplete="new-password"
            required
            value={next}
            onChange={(event) => setNext(event.currentTarget.value)}
            error={fieldProblem(change.error, 'new_password')}
          />
          <ErrorLine>{formProblem(change.error, shownPaths)}</ErrorLine>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
