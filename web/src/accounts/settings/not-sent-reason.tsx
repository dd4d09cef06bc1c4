import { Anchor } from '@mantine/core'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { useMe } from '../session/session.api.ts'

/** Why an email with a link that signs in was not sent. */
export function NotSentReason() {
  const me = useMe()
  if (me.data?.mail.transport === 'inbox') return 'No mail server is connected.'
  return (
    <>
      Emails with links that sign in leave only through a mail server that an owner has set up. Enter the password of a{' '}
      <Anchor component={Link} to={paths.mailServers} underline="always" inherit>
        mail server
      </Anchor>{' '}
      again as an owner to allow it.
    </>
  )
}
