import { Anchor, Box, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, Navigate } from 'react-router'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { authStateQuery, register } from './session.api.ts'
import { startSession, useSession } from './session.ts'

const shownPaths = ['organization_name', 'email', 'password']

export function RegisterPage() {
  const session = useSession()
  const authState = useQuery(authStateQuery)
  if (session.kind === 'in') return <Navigate to={paths.overview} replace />
  const first = authState.data?.has_users === false
  const closed = authState.data?.registration_open === false
  const lead = first
    ? 'Create your organization and your owner account to get started.'
    : 'You will be the owner of the new organization.'
  return (
    <AuthLayout title={first ? 'Welcome to Waxwing' : 'Create an organization'} lead={!closed && lead}>
      {closed ? (
        <Box mt="sm">
          <Notice tone="neutral">Registration is closed. Ask an owner of your organization for an invitation.</Notice>
        </Box>
      ) : (
        <RegisterForm />
      )}
      {!first && (
        <Text ta="center" c="dimmed" mt="sm">
          Already have an account?{' '}
          <Anchor component={Link} to={paths.login} underline="always">
            Sign in
          </Anchor>
        </Text>
      )}
    </AuthLayout>
  )
}

function RegisterForm() {
  const [organization, setOrganization] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const create = useMutation({
    mutationFn: () => register({ organization_name: organization.trim(), email: email.trim(), password }),
    onSuccess: (signed) => startSession(signed),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="Organization name"
          autoComplete="organization"
          required
          autoFocus
          maxLength={200}
          value={organization}
          onChange={(event) => setOrganization(event.currentTarget.value)}
          error={fieldProblem(create.error, 'organization_name')}
        />
        <TextInput
          label="Your email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldProblem(create.error, 'email')}
        />
        <PasswordInput
          label="Password"
          description="At least 10 characters"
          autoComplete="new-password"
          required
          minLength={10}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldProblem(create.error, 'password')}
        />
        <ErrorLine>{formProblem(create.error, shownPaths)}</ErrorLine>
        <Button type="submit" loading={create.isPending} mt={4}>
          Create organization
        </Button>
      </Stack>
    </form>
  )
}
