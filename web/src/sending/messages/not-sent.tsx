import { Anchor } from '@mantine/core'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { emailText } from '../../ui/email-text.ts'
import { Notice } from '../../ui/notice.tsx'

/** An email to a suppressed address is recorded but not sent. */
export function NotSent({ messageId, email }: { messageId: string; email?: string }) {
  return (
    <Notice tone="warn" role="status" title={`Not sent: ${email ? emailText(email) : 'this address'} is suppressed`}>
      See the reason on the{' '}
      <Anchor component={Link} to={paths.message(messageId)}>
        message page
      </Anchor>
      , or remove the address from{' '}
      <Anchor component={Link} to={paths.suppressions}>
        Suppressions
      </Anchor>
      .
    </Notice>
  )
}
