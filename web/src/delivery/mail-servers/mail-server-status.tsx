import type { MailServer } from '../../api/types.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DayAndClock } from '../../ui/time.tsx'

export function MailServerStatus({ server }: { server: Pick<MailServer, 'status' | 'failing_since'> }) {
  switch (server.status) {
    case 'untested':
      return <StatusBadge tone="neutral">Not tested</StatusBadge>
    case 'working':
      return <StatusBadge tone="good">Working</StatusBadge>
    case 'failing':
      return (
        <StatusBadge tone="bad">
          Failing
          {server.failing_since && (
            <>
              {' '}
              since <DayAndClock at={server.failing_since} />
            </>
          )}
        </StatusBadge>
      )
  }
}

/** For example "Marketing email from example.com". */
export function carriedEmail({ kinds, from_domains: domains }: Pick<MailServer, 'kinds' | 'from_domains'>): string {
  const kind = kinds.length > 1 ? 'All email' : kinds[0] === 'marketing' ? 'Marketing email' : 'Transactional email'
  if (domains.length === 0) return kind
  const [first, ...others] = domains
  return `${kind} from ${first}${others.length > 0 ? ` and ${others.length} more` : ''}`
}
