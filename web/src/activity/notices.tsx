import { Anchor, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { api, dataOf } from '../api/client.ts'
import { keys } from '../api/keys.ts'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'

const shownForMs = 7 * 24 * 60 * 60 * 1000
const shownMax = 3
const refetchMs = 30_000

/** Imports are listed on their own page. */
const isShown = ({ kind }: { kind: string }) => kind !== 'import_finished'

/** Recent problems that need attention, such as a webhook that was paused after days of failures. */
export function Notices() {
  const notices = useQuery({
    queryKey: keys.notices,
    queryFn: () => dataOf(api.GET('/api/v1/organization/notices')),
    refetchInterval: refetchMs,
  })
  const since = Date.now() - shownForMs
  const recent = (notices.data ?? [])
    .filter((notice) => isShown(notice) && Date.parse(notice.created_at) > since)
    .slice(0, shownMax)
  if (recent.length === 0) return null
  return (
    <Stack gap="xs" mb="md">
      {recent.map((notice) => (
        <Notice key={notice.id} tone="warn" title={notice.title}>
          {notice.detail} <Time at={notice.created_at} />.{' '}
          {notice.webhook_id && (
            <Anchor component={Link} to={paths.webhook(notice.webhook_id)}>
              View webhook
            </Anchor>
          )}
          {notice.path && notice.path !== paths.activity && (
            <Anchor component={Link} to={notice.path}>
              View details
            </Anchor>
          )}
        </Notice>
      ))}
    </Stack>
  )
}
