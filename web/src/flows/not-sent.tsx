import { Anchor } from '@mantine/core'
import { Link } from 'react-router'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'

/** A mail to a suppressed address is accepted and kept, but goes nowhere: its message says why. */
export function NotSent({ messageId }: { messageId: string }) {
  return (
    <Notice tone="warn" role="status" title="Not sent: this address is suppressed">
      <Anchor component={Link} to={paths.message(messageId)}>
        The message
      </Anchor>{' '}
      says why, and{' '}
      <Anchor component={Link} to={paths.suppressions}>
        Suppressions
      </Anchor>{' '}
      is where that can be lifted.
    </Notice>
  )
}
