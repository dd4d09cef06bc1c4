import { PasswordInput } from '@mantine/core'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { changePassword } from './session.api.ts'
import { startSession } from './session.ts'

export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const form = useRequestForm({
    initialValues: { current_password: '', new_password: '' },
    send: changePassword,
    onSuccess: (signed) => {
      startSession(signed)
      toast('Password changed. You’ve been signed out on other devices.')
      onClose()
    },
  })
  return (
    <Dialog opened onClose={onClose} title="Change password">
      <DialogForm form={form} action="Change password" onCancel={onClose}>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          data-autofocus
          {...form.field('current_password')}
        />
        <PasswordInput
          label="New password"
          description="At least 10 characters"
          autoComplete="new-password"
          required
          {...form.field('new_password')}
        />
      </DialogForm>
    </Dialog>
  )
}
