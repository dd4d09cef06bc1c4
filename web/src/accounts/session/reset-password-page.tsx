import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from 'react-router'
import { keys } from '../../api/keys.ts'
import { paths } from '../../paths.ts'
import { useRequestForm } from '../../ui/form.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { useLinkToken } from './link-token.ts'
import { findPasswordReset, resetPassword } from './session.api.ts'
import { startSession } from './session.ts'

export function ResetPasswordPage() {
  const token = useLinkToken()
  const link = useQuery({
    queryKey: keys.passwordReset(token),
    queryFn: () => findPasswordReset(token),
    retry: false,
    // The link is used up by this page.
    refetchOnWindowFocus: false,
  })
  return (
    <AuthLayout title="Choose a new password">
      <Load query={link}>{({ email }) => <ResetForm token={token} email={email} />}</Load>
      {link.isError && (
        <Text ta="center" mt="md">
          <Anchor component={Link} to={paths.forgotPassword} underline="always">
            Request a new link
          </Anchor>
        </Text>
      )}
    </AuthLayout>
  )
}

function ResetForm({ token, email }: { token: string; email: string }) {
  const navigate = useNavigate()
  const form = useRequestForm({
    initialValues: { password: '' },
    send: ({ password }) => resetPassword({ token, password }),
    onSuccess: (signed) => {
      startSession(signed)
      toast('Password changed. You’ve been signed out on other devices.')
      return navigate(paths.overview)
    },
  })
  return (
    <form onSubmit={form.submit}>
      <Stack gap="sm" mt="xs">
        <TextInput label="Email" value={email} readOnly autoComplete="username" />
        <PasswordInput
          label="New password"
          description="At least 10 characters"
          autoComplete="new-password"
          required
          autoFocus
          minLength={10}
          {...form.field('password')}
        />
        <ErrorLine>{form.problem}</ErrorLine>
        <Button type="submit" loading={form.sending}>
          Change password
        </Button>
      </Stack>
    </form>
  )
}
