import { Button } from '@mantine/core'
import { IconRepeat } from '@tabler/icons-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { keys, useInvalidate } from '../api/keys.ts'
import type { MessageDetail } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/confirm.tsx'
import { emailText } from '../ui/email-text.ts'
import { toast } from '../ui/toast.tsx'
import { sendMessageAgain } from './messages.api.ts'

/** Sends the email again after a confirmation, and opens the new message. */
export function SendAgain({ message }: { message: MessageDetail }) {
  const [asking, setAsking] = useState(false)
  const navigate = useNavigate()
  const invalidate = useInvalidate()
  // Test emails are sent again from the flow, and an erased contact has no address.
  if (message.is_test || message.context === null) return null
  return (
    <>
      <Button variant="default" leftSection={<IconRepeat size={16} aria-hidden />} onClick={() => setAsking(true)}>
        Send again
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Send again"
        action="Send again"
        run={async () => {
          const { message_id: id, status } = await sendMessageAgain(message.id)
          await invalidate(keys.messages)
          toast(
            status !== 'suppressed' ? 'Email queued' : 'The address is suppressed. Nothing was sent.',
            toneOf(status),
          )
          await navigate(paths.message(id))
        }}
      >
        This sends a new email through “{message.flow_name ?? 'the same flow'}” to {emailText(message.contact.email)},
        with the same context and the current version of the flow.
      </Confirm>
    </>
  )
}

const toneOf = (status: string) => (status === 'suppressed' ? 'bad' : 'good')
