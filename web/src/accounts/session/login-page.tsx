import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, Navigate, useSearchParams } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import { paths } from '../../paths.ts'
import { ErrorLine } from '../../ui/states.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { authStateQuery, login } from './session.api.ts'
import { startSession, useSession } from './session.ts'

export function LoginPage() {
  const session = useSession()
  const [search] = useSearchParams()
  const authState = useQuery(authStateQuery)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const signIn = useMutation({
    mutationFn: () => login({ email: email.trim(), password }),
    onSuccess: (signed) => startSession(signed),
  })

  if (session.kind === 'in') return <Navigate to={safeNext(search.get('next'))} replace />
  if (authState.data && !authState.data.has_users) return <Navigate to={paths.register} replace />

  return (
    <AuthLayout title="Sign in">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate()
        }}
      >
        <Stack gap="sm" mt="sm">
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {signIn.isError && <ErrorLine>{messageOf(signIn.error)}</ErrorLine>}
          <Button type="submit" loading={signIn.isPending} mt={4}>
            Sign in
          </Button>
          {authState.data?.registration_open && (
            <Text ta="center" c="dimmed">
              New here?{' '}
              <Anchor component={Link} to={paths.register} underline="always">
                Create an organization
              </Anchor>
            </Text>
          )}
          <Text ta="center">
            <Anchor component={Link} to={forgotLink(email)} underline="always">
              Forgot your password?
            </Anchor>
          </Text>
        </Stack>
      </form>
    </AuthLayout>
  )
}

const forgotLink = (email: string) =>
  email.trim() === '' ? paths.forgotPassword : `${paths.forgotPassword}?email=${encodeURIComponent(email.trim())}`

/** Accepts only paths of this app, because `next` comes from the URL. */
function safeNext(next: string | null): string {
  return next?.startsWith('/') && !next.startsWith('//') && !next.includes('\\') ? next : paths.overview
}
