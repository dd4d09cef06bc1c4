import { Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import { useSignOut } from '../../shell/sign-out.ts'
import { ErrorLine } from '../../ui/states.tsx'
import { login } from './session.api.ts'
import { startSession, useSession } from './session.ts'

/** Covers the current page. Requests that wait for the session continue when it is renewed. */
export function RenewSession({ email }: { email: string }) {
  const [password, setPassword] = useState('')
  const signOut = useSignOut()
  const session = useSession()
  const signedOut = session.kind === 'expired' && session.signedOut
  const renew = useMutation({
    mutationFn: () => login({ email, password }),
    onSuccess: (signed) => startSession(signed),
  })
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={signedOut ? 'You signed out in another tab' : 'Your session has expired'}
      // After signing out, nothing may be readable on the screen.
      {...(signedOut && { overlayProps: { color: 'var(--page)', backgroundOpacity: 1 } })}
      zIndex={400}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          renew.mutate()
        }}
      >
        <Stack gap="sm">
          <Text>Sign in again to continue. Nothing you entered is lost.</Text>
          <TextInput label="Email" value={email} readOnly autoComplete="username" />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            data-autofocus
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {renew.isError && <ErrorLine>{messageOf(renew.error)}</ErrorLine>}
          <Group justify="space-between">
            <Button variant="subtle" color="gray" onClick={signOut}>
              {signedOut ? 'Use another account' : 'Sign out'}
            </Button>
            <Button type="submit" loading={renew.isPending}>
              Continue
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
