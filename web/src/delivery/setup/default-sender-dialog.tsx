import { Button, Group, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMe } from '../../accounts/session/session.api.ts'
import { changeOrganization, organizationQuery } from '../../accounts/settings/settings.api.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { SendingSetup } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { SenderField } from '../domains/sender-field.tsx'

type Props = { setup: SendingSetup; onClose: () => void }

export function DefaultSenderDialog({ setup: { default_sender: sender }, onClose }: Props) {
  const me = useMe()
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: {
      default_sender: {
        name: sender.is_chosen ? (sender.name ?? '') : (me.data?.organization.name ?? ''),
        email: sender.is_chosen ? sender.email : null,
      } as { name: string; email: string | null },
    },
    send: ({ default_sender: { name, email } }) =>
      changeOrganization({ default_sender: email === null ? null : { name: name.trim() || null, email } }),
    onSuccess: async (saved) => {
      queries.setQueryData(organizationQuery.queryKey, saved)
      await invalidate(keys.sending, keys.me)
      toast('Default sender saved.')
      onClose()
    },
  })
  const { email } = form.values.default_sender
  const { error } = form.field('default_sender.email')
  return (
    <Dialog opened onClose={onClose} title="Default sender">
      <DialogForm form={form} action="Save" disabled={email === null} onCancel={onClose}>
        <Text>Emails leave as this sender, unless their flow has a sender of its own.</Text>
        <TextInput label="Name" maxLength={200} {...form.field('default_sender.name')} />
        <SenderField
          allowsDefault={false}
          value={email}
          onChange={(address) => form.set({ default_sender: { ...form.values.default_sender, email: address } })}
          error={error}
        />
        {sender.is_chosen && (
          <Group>
            <Button
              size="xs"
              variant="default"
              onClick={() => void form.save({ default_sender: { name: '', email: null } }).catch(() => {})}
            >
              Use that of the installation
            </Button>
          </Group>
        )}
      </DialogForm>
    </Dialog>
  )
}
