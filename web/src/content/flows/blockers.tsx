import { Anchor, List } from '@mantine/core'
import { Link } from 'react-router'
import { useMe } from '../../accounts/session/session.api.ts'
import type { EmailBlocker } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { Notice } from '../../ui/notice.tsx'

const places: Record<EmailBlocker['code'], [label: string, path: string]> = {
  unreachable_links: ['Open Setup', paths.setup],
  sender_not_verified: ['Open Setup', paths.setup],
  no_postal_address: ['Open Brand', paths.brand],
}

/** Whether emails leave the service. Until then, nobody else receives them. */
export const useLeaves = () => useMe().data?.mail.transport !== 'inbox'

/** What has to be corrected before the email is sent. */
export function Blockers({ blockers }: { blockers: EmailBlocker[] }) {
  const leaves = useLeaves()
  if (blockers.length === 0) return null
  return (
    <Notice
      tone={leaves ? 'bad' : 'info'}
      title={leaves ? 'Fix before sending' : 'Fix before you connect a mail server'}
    >
      <List size="sm" spacing={6} mt={4}>
        {blockers.map(({ code, message }) => {
          const [label, path] = places[code]
          return (
            <List.Item key={`${code} ${message}`} className="break">
              {message}{' '}
              <Anchor component={Link} to={path} inherit underline="always">
                {label}
              </Anchor>
            </List.Item>
          )
        })}
      </List>
    </Notice>
  )
}
