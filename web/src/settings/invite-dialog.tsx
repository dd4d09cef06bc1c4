import { Button, Select, Stack, TextInput } from '@mantine/core'
import { omitEmpty } from '../api/client.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Role } from '../api/types.ts'
import { useMe } from '../session/session.api.ts'
import { CodeBlock } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { DialogActions } from '../ui/dialog-actions.tsx'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { Notice } from '../ui/notice.tsx'
import { roleOptions } from './roles.ts'
import { invite } from './settings.api.ts'

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
  const mustCopy = form.result !== undefined && form.result.sent_at === null
  return (
    <Dialog
      opened
      onClose={onClose}
      title="Invite member"
      size="lg"
      // The link must not disappear because of an accidental key or click.
      closeOnClickOutside={!mustCopy}
      closeOnEscape={!mustCopy}
      withCloseButton={!mustCopy}
    >
      {form.result ? (
        <Stack gap="md">
          <Result email={form.result.sent_at === null ? null : form.result.email} />
          <CodeBlock code={form.result.url} label="invitation link" />
          <DialogActions>
            <Button onClick={onClose}>{form.result.sent_at === null ? 'I’ve copied it' : 'Done'}</Button>
          </DialogActions>
        </Stack>
      ) : (
        <DialogForm form={form} action={open ? 'Create link' : 'Send invitation'} onCancel={onClose}>
          <TextInput
            label="Email (optional)"
            description="We send the invitation to this address. Leave it empty to create a single-use link that lets anyone join as a member."
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

/** `email`: the address that the invitation was sent to. */
function Result({ email }: { email: string | null }) {
  const me = useMe()
  if (email === null) {
    return (
      <Notice tone="warn" title="Copy the link and share it">
        You won’t be able to see it again. The person who opens it sets a password and joins your organization.
      </Notice>
    )
  }
  return (
    <Notice tone="good" role="status" title={`Invitation for ${email} created`}>
      {me.data?.mail.transport === 'inbox'
        ? 'No mail server is configured, so the email is in the built-in inbox. You can also share this link.'
        : 'The email is on its way. You can also share this link.'}
    </Notice>
  )
}
