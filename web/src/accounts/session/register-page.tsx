import { Anchor, Box, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from 'react-router'
import { paths } from '../../paths.ts'
import { useRequestForm } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { authStateQuery, register } from './session.api.ts'
import { startSession, useSession } from './session.ts'

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
  const form = useRequestForm({
    initialValues: { organization_name: '', email: '', password: '' },
    send: ({ organization_name, email, password }) =>
      register({
        organization_name: organization_name.trim(),
        email: email.trim(),
        password,
        timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      }),
    onSuccess: startSession,
  })
  return (
    <form onSubmit={form.submit}>
      <Stack gap="sm">
        <TextInput
          label="Organization name"
          autoComplete="organization"
          required
          autoFocus
          maxLength={200}
          {...form.field('organization_name')}
        />
        <TextInput label="Your email" type="email" autoComplete="username" required {...form.field('email')} />
        <PasswordInput
          label="Password"
          description="At least 10 characters"
          autoComplete="new-password"
          required
          minLength={10}
          {...form.field('password')}
        />
        <ErrorLine>{form.problem}</ErrorLine>
        <Button type="submit" loading={form.sending} mt={4}>
          Create organization
        </Button>
      </Stack>
    </form>
  )
}
