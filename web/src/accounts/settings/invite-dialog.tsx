import { Select, TextInput } from '@mantine/core'
import { omitEmpty } from '../../api/client.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Role } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { InvitationResult, mustBeCopied } from './invitation-result.tsx'
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
  const mustCopy = form.result !== undefined && mustBeCopied(form.result)
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
        <InvitationResult invitation={form.result} close={onClose} />
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
