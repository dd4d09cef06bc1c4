import { Button, PasswordInput, Stack, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from 'react-router'
import { omitEmpty } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import type { InvitationInfo } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { useRequestForm } from '../../ui/form.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { acceptInvitation, findInvitation } from './session.api.ts'
import { startSession } from './session.ts'

export function InvitationPage() {
  const { token = '' } = useParams()
  const invitation = useQuery({ queryKey: keys.invitation(token), queryFn: () => findInvitation(token), retry: false })
  return (
    <AuthLayout title="You’ve been invited">
      <Load query={invitation}>{(info) => <AcceptForm token={token} info={info} />}</Load>
    </AuthLayout>
  )
}

function AcceptForm({ token, info }: { token: string; info: InvitationInfo }) {
  const navigate = useNavigate()
  const form = useRequestForm({
    initialValues: { email: info.email ?? '', name: '', password: '', existing_account: false },
    send: ({ email, name, password, existing_account }) =>
      acceptInvitation({
        token,
        email: email.trim(),
        password,
        existing_account,
        ...omitEmpty({ name: existing_account ? '' : name.trim() }),
      }),
    onSuccess: (signed) => {
      startSession(signed)
      return navigate(paths.overview)
    },
  })
  const exists = form.values.existing_account
  return (
    <form onSubmit={form.submit}>
      <Stack gap="sm">
        <span>
          Join <strong>{info.organization_name}</strong> as {info.role === 'owner' ? 'an owner' : 'a member'}.
        </span>
        <TextInput
          label="Your email"
          type="email"
          autoComplete="username"
          required
          readOnly={info.email !== null}
          {...form.field('email')}
        />
        {!exists && <TextInput label="Your name" autoComplete="name" maxLength={200} {...form.field('name')} />}
        <PasswordInput
          label="Password"
          description={exists ? 'Of your existing account' : 'At least 10 characters'}
          autoComplete={exists ? 'current-password' : 'new-password'}
          required
          {...(!exists && { minLength: 10 })}
          {...form.field('password')}
        />
        <Switch
          label="I already have an account"
          description={exists && 'Your account moves to this organization and leaves its current one.'}
          {...form.field('existing_account', { type: 'checkbox' })}
        />
        <ErrorLine>{form.problem}</ErrorLine>
        <Button type="submit" loading={form.sending}>
          Join {info.organization_name}
        </Button>
      </Stack>
    </form>
  )
}
