import { TextInput } from '@mantine/core'
import { useNavigate } from 'react-router'
import { keys, useInvalidate } from '../api/keys.ts'
import { paths } from '../paths.ts'
import { Dialog } from '../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { createBroadcast } from './broadcasts.api.ts'

type Props = { opened: boolean; onClose: () => void }

export function NewBroadcastDialog({ opened, onClose }: Props) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Create broadcast">
      {opened && <NewBroadcastForm onClose={onClose} />}
    </Dialog>
  )
}

function NewBroadcastForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { name: '' },
    send: ({ name }) => createBroadcast({ name: name.trim() }),
    onSuccess: () => invalidate(keys.broadcasts),
    onSaved: ({ id }) => void navigate(paths.broadcast(id)),
  })
  return (
    <DialogForm form={form} action="Create draft" onCancel={onClose}>
      <TextInput
        label="Name"
        description="Recipients don’t see it."
        required
        maxLength={200}
        data-autofocus
        {...form.field('name')}
      />
    </DialogForm>
  )
}
