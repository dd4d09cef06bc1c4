import { Anchor, Button, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import { paths } from '../../paths.ts'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { useLinkToken } from './link-token.ts'
import { confirmEmailChange, findEmailChange } from './session.api.ts'
import { getSession, renameSession } from './session.ts'

/** Changes nothing until the button is pressed, because mail scanners open links. */
export function ConfirmEmailPage() {
  const token = useLinkToken()
  const link = useQuery({
    queryKey: keys.emailChange(token),
    queryFn: () => findEmailChange(token),
    retry: false,
    refetchOnWindowFocus: false,
  })
  return (
    <AuthLayout title="Confirm your email address">
      <Load query={link}>
        {({ old_email, new_email }) => <Confirmation token={token} oldEmail={old_email} newEmail={new_email} />}
      </Load>
    </AuthLayout>
  )
}

function Confirmation({ token, oldEmail, newEmail }: { token: string; oldEmail: string; newEmail: string }) {
  const invalidate = useInvalidate()
  const confirm = useMutation({
    mutationFn: () => confirmEmailChange(token),
    onSuccess: ({ email }) => {
      renameSession(oldEmail, email)
      return invalidate(keys.me, keys.members)
    },
  })
  if (confirm.isSuccess) {
    return (
      <Stack gap="sm" mt="xs">
        <Notice tone="good" role="status">
          Your account now uses <strong className="break">{newEmail}</strong>.
        </Notice>
        <Anchor component={Link} to={paths.profile} ta="center" underline="always">
          {getSession() ? 'Back to your profile' : 'Sign in'}
        </Anchor>
      </Stack>
    )
  }
  return (
    <Stack gap="sm" mt="xs">
      <Text className="break">
        Use <strong>{newEmail}</strong> instead of <strong>{oldEmail}</strong> to sign in to Waxwing.
      </Text>
      {confirm.isError && <ErrorLine>{messageOf(confirm.error)}</ErrorLine>}
      <Button loading={confirm.isPending} onClick={() => confirm.mutate()}>
        Confirm address
      </Button>
    </Stack>
  )
}
