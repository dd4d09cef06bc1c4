import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from 'react-router'
import { keys } from '../api/keys.ts'
import type { InvitationInfo } from '../api/types.ts'
import { paths } from '../paths.ts'
import { useRequestForm } from '../ui/form.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
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
    initialValues: { email: info.email ?? '', password: '' },
    send: ({ email, password }) => acceptInvitation({ token, email: email.trim(), password }),
    onSuccess: (signed) => {
      startSession(signed)
      return navigate(paths.overview)
    },
  })
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
        <PasswordInput
          label="Password"
          description="At least 10 characters"
          autoComplete="new-password"
          required
          minLength={10}
          {...form.field('password')}
        />
        <ErrorLine>{form.problem}</ErrorLine>
        <Button type="submit" loading={form.sending}>
          Join {info.organization_name}
        </Button>
      </Stack>
    </form>
  )
}
