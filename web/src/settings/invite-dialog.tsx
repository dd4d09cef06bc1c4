import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import { omitEmpty } from '../api/client.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Role } from '../api/types.ts'
import { CodeBlock } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { invite } from './settings.api.ts'
import { roleOptions } from './team-page.tsx'

const shownPaths = ['email', 'role']

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const invalidate = useInvalidate()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  // Anyone who gets such a link could use it, so it only creates members.
  const open = email.trim() === ''
  const send = useMutation({
    mutationFn: () => invite({ ...omitEmpty({ email: email.trim() }), role: open ? 'member' : role }),
    onSuccess: () => invalidate(keys.invitations),
  })
  return (
    <Dialog
      opened
      onClose={onClose}
      title="Invite member"
      size="lg"
      // The link must not disappear because of an accidental key or click.
      closeOnClickOutside={!send.data}
      closeOnEscape={!send.data}
      withCloseButton={!send.data}
    >
      {send.data ? (
        <Stack gap="md">
          <Notice tone="warn" title="Copy the link and share it">
            You won’t be able to see it again. The person who opens it sets a password and joins your organization.
          </Notice>
          <CodeBlock code={send.data.url} label="invitation link" />
          <Group justify="flex-end">
            <Button onClick={onClose}>I’ve copied it</Button>
          </Group>
        </Stack>
      ) : (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            send.mutate()
          }}
        >
          <Stack gap="sm">
            <TextInput
              label="Email (optional)"
              description="Leave empty to create a single-use link that lets anyone join as a member."
              type="email"
              data-autofocus
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              error={fieldProblem(send.error, 'email')}
            />
            <Select
              label="Role"
              data={roleOptions}
              value={open ? 'member' : role}
              disabled={open}
              allowDeselect={false}
              onChange={(value) => setRole((value ?? 'member') as Role)}
            />
            <ErrorLine>{formProblem(send.error, shownPaths)}</ErrorLine>
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={send.isPending}>
                Create link
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  )
}
