import { Anchor, Button, Code, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { RegistrationStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { useRequestForm } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine } from '../../ui/states.tsx'
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
  const path = useQuery(authStateQuery).data?.password_reset_emails
  return (
    <AuthLayout
      title={!form.result ? 'Reset your password' : path === 'not_sent' ? 'No email was sent' : 'Check your email'}
      lead={!form.result && 'Enter the email address of your account. We’ll send you a link to choose a new password.'}
    >
      {form.result ? (
        <Requested email={form.result} path={path} />
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
function Requested({ email, path }: { email: string; path: RegistrationStatus['password_reset_emails'] | undefined }) {
  const account = (
    <>
      If <strong className="break">{email}</strong> has an account,
    </>
  )
  const command = (
    <>
      The operator of this server can also set a new password with <Code>waxwing reset-password --email {email}</Code>.
    </>
  )
  const spam = <Text c="dimmed">Nothing there after a few minutes? Check the spam folder.</Text>
  return (
    <Stack gap="sm" mt="xs">
      {path === 'not_sent' ? (
        <Notice tone="warn" title="No mail server may send it">
          {account} owners of its organization find the email with the link in the built-in inbox. {command}
        </Notice>
      ) : (
        <Text>
          {account}{' '}
          {path === 'waiting'
            ? 'an email with a link is sent as soon as the mail server accepts email again.'
            : path === 'depends'
              ? 'an email with a link is sent through the mail server of its organization.'
              : 'an email with a link is on its way.'}{' '}
          The link is valid for 30 minutes.
        </Text>
      )}
      {path === 'sending' && spam}
      {path === 'depends' && (
        <Notice tone="info" title="Nothing there after a few minutes?">
          Check the spam folder. If no owner of your organization has connected a mail server, the email is in the
          built-in inbox, where owners can read it. {command}
        </Notice>
      )}
    </Stack>
  )
}
