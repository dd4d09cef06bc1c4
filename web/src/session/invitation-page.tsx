import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import { keys } from '../api/keys.ts'
import type { InvitationInfo } from '../api/types.ts'
import { paths } from '../paths.ts'
import { ErrorLine, Load } from '../ui/states.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { acceptInvitation, findInvitation } from './session.api.ts'
import { startSession } from './session.ts'

const shownPaths = ['email', 'password']

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
  const [email, setEmail] = useState(info.email ?? '')
  const [password, setPassword] = useState('')
  const accept = useMutation({
    mutationFn: () => acceptInvitation({ token, email: email.trim(), password }),
    onSuccess: (signed) => {
      startSession(signed)
      return navigate(paths.overview)
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        accept.mutate()
      }}
    >
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
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldProblem(accept.error, 'email')}
        />
        <PasswordInput
          label="Password"
          description="At least 10 characters"
          autoComplete="new-password"
          required
          minLength={10}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldProblem(accept.error, 'password')}
        />
        <ErrorLine>{formProblem(accept.error, shownPaths)}</ErrorLine>
        <Button type="submit" loading={accept.isPending}>
          Join {info.organization_name}
        </Button>
      </Stack>
    </form>
  )
}
