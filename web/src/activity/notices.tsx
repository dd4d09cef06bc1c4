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

/** What Waxwing did on its own recently, such as pausing a webhook that failed for days. */
export function Notices() {
  const notices = useQuery({
    queryKey: keys.notices,
    queryFn: () => dataOf(api.GET('/api/v1/organization/notices')),
    refetchInterval: refetchMs,
  })
  const since = Date.now() - shownForMs
  const recent = (notices.data ?? []).filter((notice) => Date.parse(notice.created_at) > since).slice(0, shownMax)
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
        </Notice>
      ))}
    </Stack>
  )
}
