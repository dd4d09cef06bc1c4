import { Button, Group, Paper, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Me } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { setPasswordDialog } from '../session/open-password.ts'
import { cancelEmailChange, changeEmail, changeProfile, meQuery, useMe } from '../session/session.api.ts'
import { AlertSwitches } from './alert-switches.tsx'
import { NotSentReason } from './not-sent-reason.tsx'
import { SessionList } from './session-list.tsx'

export function ProfilePage() {
  const me = useMe()
  return (
    <Load query={me}>
      {(data) => (
        <>
          <Section title="Profile" titleHidden>
            <Paper withBorder p="md" maw={560}>
              <Stack gap="lg">
                <NameForm key={data.user.id} me={data} />
                <EmailAddress me={data} />
                <Password />
              </Stack>
            </Paper>
          </Section>
          <Section
            title="Email alerts"
            description={
              data.role === 'owner'
                ? 'Sent to you as an owner. The other owners choose for themselves.'
                : 'Owners also receive alerts about sending and webhooks.'
            }
          >
            <Stack gap="md" maw={560}>
              {data.mail.alerts === 'not_sent' && (
                <Notice tone="warn">
                  No mail server is connected, so alerts are not sent. They are kept in the inbox, and listed under
                  Activity.
                </Notice>
              )}
              <AlertSwitches me={data} />
            </Stack>
          </Section>
          <SessionList />
        </>
      )}
    </Load>
  )
}

function NameForm({ me }: { me: Me }) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { name: me.user.name ?? '' },
    send: ({ name }) => changeProfile({ name: name.trim() || null }),
    onSuccess: async (saved) => {
      queries.setQueryData(meQuery.queryKey, saved)
      await invalidate(keys.members)
      toast('Profile saved.')
    },
  })
  return (
    <form onSubmit={form.submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          description="Shown to your team and in invitations you send."
          autoComplete="name"
          maxLength={200}
          {...form.field('name')}
        />
        <ErrorLine>{form.problem}</ErrorLine>
        <Group>
          <Button type="submit" loading={form.sending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function EmailAddress({ me }: { me: Me }) {
  const invalidate = useInvalidate()
  const [changing, setChanging] = useState(false)
  const cancel = useMutation({ mutationFn: cancelEmailChange, onSettled: () => invalidate(keys.me) })
  return (
    <div>
      <Group justify="space-between" gap="sm">
        <div>
          <Text fw={600}>Email</Text>
          <Text c="dimmed" className="break">
            {me.user.email}
          </Text>
        </div>
        <Button variant="default" onClick={() => setChanging(true)}>
          Change email
        </Button>
      </Group>
      {me.pending_email && (
        <Stack mt="sm">
          <Notice tone="info" title={`Confirm ${me.pending_email.email}`}>
            <Group justify="space-between" gap="xs">
              <span>
                {me.mail.account_emails === 'not_sent' ? (
                  <>
                    The link to this address was not sent. <NotSentReason /> Owners find it in the inbox.
                  </>
                ) : (
                  'Open the link that we sent to this address.'
                )}{' '}
                It expires <Time at={me.pending_email.expires_at} />.
              </span>
              <Button size="compact-sm" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
                Cancel change
              </Button>
            </Group>
          </Notice>
        </Stack>
      )}
      {changing && <EmailDialog onClose={() => setChanging(false)} />}
    </div>
  )
}

function EmailDialog({ onClose }: { onClose: () => void }) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { email: '', current_password: '' },
    send: ({ email, current_password }) => changeEmail({ email: email.trim(), current_password }),
    onSuccess: async () => {
      await invalidate(keys.me)
      onClose()
    },
  })
  return (
    <Dialog opened onClose={onClose} title="Change email">
      <DialogForm form={form} action="Send confirmation link" onCancel={onClose}>
        <Text c="dimmed">We send a link to the new address. Until you open it, you sign in with the current one.</Text>
        <TextInput
          label="New email"
          type="email"
          autoComplete="email"
          required
          data-autofocus
          {...form.field('email')}
        />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          {...form.field('current_password')}
        />
      </DialogForm>
    </Dialog>
  )
}

function Password() {
  return (
    <Group justify="space-between" gap="sm">
      <div>
        <Text fw={600}>Password</Text>
        <Text c="dimmed">Changing it signs you out on other devices.</Text>
      </div>
      <Button variant="default" onClick={() => setPasswordDialog(true)}>
        Change password
      </Button>
    </Group>
  )
}
