import { IconX } from '@tabler/icons-react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Message } from '../../api/types.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { emailText } from '../../ui/email-text.ts'
import { toast } from '../../ui/toast.tsx'
import { cancelMessage } from './messages.api.ts'

/** Asks for confirmation, then cancels an email that is scheduled or queued. */
export function CancelButton({ message }: { message: Pick<Message, 'id' | 'contact'> }) {
  const invalidate = useInvalidate()
  return (
    <ConfirmButton
      leftSection={<IconX size={16} aria-hidden />}
      confirm={{
        title: 'Cancel this email?',
        action: 'Cancel email',
        dismiss: 'Keep it',
        children: (
          <>
            The email to <strong>{emailText(message.contact.email)}</strong> won’t be sent. This can’t be undone.
          </>
        ),
        run: async () => {
          // If it was sent in the meantime, the page shows it.
          await cancelMessage(message.id).finally(() => invalidate(keys.messages))
          toast('Email cancelled. It won’t be sent.')
        },
      }}
    >
      Cancel email
    </ConfirmButton>
  )
}
