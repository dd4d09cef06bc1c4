import { IconRepeat } from '@tabler/icons-react'
import { useNavigate } from 'react-router'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { MessageDetail } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { emailText } from '../../ui/email-text.ts'
import { toast } from '../../ui/toast.tsx'
import { sendMessageAgain } from './messages.api.ts'

/** Sends the email again after a confirmation, and opens the new message. */
export function SendAgain({ message }: { message: MessageDetail }) {
  const navigate = useNavigate()
  const invalidate = useInvalidate()
  // Test emails are sent again from the flow, an erased contact has no address, and a deleted content cannot be sent.
  if (message.is_test || message.context === null || message.is_content_deleted) return null
  return (
    <ConfirmButton
      leftSection={<IconRepeat size={16} aria-hidden />}
      confirm={{
        title: 'Send again',
        action: 'Send again',
        children: `This sends a new email through “${message.flow_name ?? 'the same flow'}” to ${emailText(message.contact.email)}, with the same variables and the current version of the flow.`,
        run: async () => {
          const { message_id: id, status } = await sendMessageAgain(message.id)
          await invalidate(keys.messages)
          if (status === 'suppressed') toast('The address is suppressed. Nothing was sent.', 'bad')
          else toast('Email queued.')
          await navigate(paths.message(id))
        },
      }}
    >
      Send again
    </ConfirmButton>
  )
}
