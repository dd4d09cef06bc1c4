import { Anchor, Button, Code, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import { paths } from '../paths.ts'
import { useRequestForm } from '../ui/form.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { authStateQuery, requestPasswordReset } from './session.api.ts'

export function ForgotPasswordPage() {
  const [search] = useSearchParams()
  const form = useRequestForm({
    initialValues: { email: search.get('email') ?? '' },
    send: async ({ email }) => {
      await requestPasswordReset(email.trim())
      return email.trim()
    },
  })
  return (
    <AuthLayout
      title={form.result ? 'Check your email' : 'Reset your password'}
      lead={!form.result && 'Enter the email address of your account. We’ll send you a link to choose a new password.'}
    >
      {form.result ? (
        <Requested email={form.result} />
      ) : (
        <form onSubmit={form.submit}>
          <Stack gap="sm">
            <TextInput label="Email" type="email" autoComplete="username" required autoFocus {...form.field('email')} />
            <ErrorLine>{form.problem}</ErrorLine>
            <Button type="submit" loading={form.sending}>
              Send link
            </Button>
          </Stack>
        </form>
      )}
      <Text ta="center" c="dimmed" mt="md">
        <Anchor component={Link} to={paths.login} underline="always">
          Back to sign in
        </Anchor>
      </Text>
    </AuthLayout>
  )
}

/** The same for addresses with and without an account. */
function Requested({ email }: { email: string }) {
  const authState = useQuery(authStateQuery)
  return (
    <Stack gap="sm" mt="xs">
      <Text>
        If <strong className="break">{email}</strong> has an account, an email with a link is on its way. The link is
        valid for 30 minutes.
      </Text>
      {authState.data?.sends_email === false ? (
        <Notice tone="warn" title="No mail server is configured">
          The email is in the built-in inbox, where owners of your organization can read it. The operator of this server
          can also set a new password with <Code>waxwing reset-password --email {email}</Code>.
        </Notice>
      ) : (
        <Text c="dimmed">Nothing there after a few minutes? Check the spam folder.</Text>
      )}
    </Stack>
  )
}
