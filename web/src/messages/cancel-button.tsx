import { Button } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Message } from '../api/types.ts'
import { Confirm } from '../ui/confirm.tsx'
import { emailText } from '../ui/email-text.ts'
import { toast } from '../ui/toast.tsx'
import { cancelMessage } from './messages.api.ts'

/** Asks for confirmation, then cancels an email that is scheduled or queued. */
export function CancelButton({ message }: { message: Pick<Message, 'id' | 'contact'> }) {
  const invalidate = useInvalidate()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" leftSection={<IconX size={16} aria-hidden />} onClick={() => setAsking(true)}>
        Cancel email
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Cancel this email?"
        action="Cancel email"
        dismiss="Keep it"
        run={async () => {
          // If it was sent in the meantime, the page shows it.
          await cancelMessage(message.id).finally(() => invalidate(keys.messages))
          toast('Email cancelled. It won’t be sent.')
        }}
      >
        The email to <strong>{emailText(message.contact.email)}</strong> won’t be sent. This can’t be undone.
      </Confirm>
    </>
  )
}
