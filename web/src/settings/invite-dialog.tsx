import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { omitEmpty } from '../api/client.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Role } from '../api/types.ts'
import { CodeBlock } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { Notice } from '../ui/notice.tsx'
import { invite } from './settings.api.ts'
import { roleOptions } from './team-page.tsx'

/** Anyone who gets a link without an address could use it, so it only creates members. */
const isOpen = (email: string) => email.trim() === ''

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { email: '', role: 'member' as Role },
    send: ({ email, role }) => invite({ ...omitEmpty({ email: email.trim() }), role: isOpen(email) ? 'member' : role }),
    onSuccess: () => invalidate(keys.invitations),
  })
  const open = isOpen(form.values.email)
  return (
    <Dialog
      opened
      onClose={onClose}
      title="Invite member"
      size="lg"
      // The link must not disappear because of an accidental key or click.
      closeOnClickOutside={!form.result}
      closeOnEscape={!form.result}
      withCloseButton={!form.result}
    >
      {form.result ? (
        <Stack gap="md">
          <Notice tone="warn" title="Copy the link and share it">
            You won’t be able to see it again. The person who opens it sets a password and joins your organization.
          </Notice>
          <CodeBlock code={form.result.url} label="invitation link" />
          <Group justify="flex-end">
            <Button onClick={onClose}>I’ve copied it</Button>
          </Group>
        </Stack>
      ) : (
        <DialogForm form={form} action="Create link" onCancel={onClose}>
          <TextInput
            label="Email (optional)"
            description="Leave empty to create a single-use link that lets anyone join as a member."
            type="email"
            data-autofocus
            {...form.field('email')}
          />
          <Select
            label="Role"
            data={roleOptions}
            disabled={open}
            allowDeselect={false}
            {...form.field('role')}
            {...(open && { value: 'member' })}
          />
        </DialogForm>
      )}
    </Dialog>
  )
}
