import { Button, Stack } from '@mantine/core'
import type { CreatedInvitation } from '../../api/types.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { DialogActions } from '../../ui/dialog-actions.tsx'
import { Notice } from '../../ui/notice.tsx'
import { NotSentReason } from './not-sent-reason.tsx'

/** Whether only the inviter can pass the link on. */
export const mustBeCopied = ({ email_status: status }: CreatedInvitation) => status === null || status === 'not_sent'

/** What happens to an invitation, with its link. The dialog around it must not close by accident if the link must be copied. */
export function InvitationResult({ invitation, close }: { invitation: CreatedInvitation; close: () => void }) {
  return (
    <Stack gap="md">
      <Outcome invitation={invitation} />
      <CodeBlock code={invitation.url} label="invitation link" />
      <DialogActions>
        <Button onClick={close}>{mustBeCopied(invitation) ? 'I’ve copied it' : 'Done'}</Button>
      </DialogActions>
    </Stack>
  )
}

function Outcome({ invitation: { email, email_status: status } }: { invitation: CreatedInvitation }) {
  const once = 'You won’t be able to see it again. The person who opens it sets a password and joins your organization.'
  switch (status) {
    case null:
      return (
        <Notice tone="warn" title="Copy the link and share it">
          {once}
        </Notice>
      )
    case 'not_sent':
      return (
        <Notice tone="warn" role="status" title={`No email was sent to ${email}`}>
          <NotSentReason /> Copy the link and send it yourself. {once}
        </Notice>
      )
    case 'waiting':
      return (
        <Notice tone="warn" role="status" title={`The email to ${email} is waiting`}>
          The mail server doesn’t accept email at the moment. The email is sent as soon as it does. You can also share
          this link.
        </Notice>
      )
    case 'sending':
      return (
        <Notice tone="good" role="status" title={`Invitation for ${email} created`}>
          The email is on its way. You can also share this link.
        </Notice>
      )
  }
}
