import { Anchor, Button, CloseButton, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { useMay } from '../../accounts/session/session.api.ts'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { OrganizationNotice } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DayAndClock, Time } from '../../ui/time.tsx'
import { dismissNotice, noticesQuery, openNoticesQuery } from './notices.api.ts'

/** The others push the figures down until somebody asks for them. */
const shownMax = 3

/** Problems that last and that nobody has dismissed, such as a webhook that was paused after days of failures. */
export function Notices() {
  const open = useQuery(openNoticesQuery).data ?? []
  const may = useMay()
  const [showsAll, setShowsAll] = useState(false)
  const invalidate = useInvalidate()
  const dismiss = useMutation({ mutationFn: dismissNotice, onSettled: () => invalidate(keys.notices) })
  if (open.length === 0) return null
  const shown = showsAll ? open : open.slice(0, shownMax)
  return (
    <Stack gap="xs" mb="md">
      {dismiss.isError && <ErrorLine>{messageOf(dismiss.error)}</ErrorLine>}
      {shown.map((notice) => (
        <Notice key={notice.id} tone="warn" title={notice.title}>
          <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
            <span>
              <Detail text={notice.detail} /> <Details notice={notice} />{' '}
              <Text span size="sm">
                (<Time at={notice.created_at} />)
              </Text>
            </span>
            {may('notices:write') && (
              <CloseButton
                size="sm"
                aria-label={`Dismiss: ${notice.title}`}
                title="Dismiss for everybody"
                onClick={() => dismiss.mutate(notice.id)}
              />
            )}
          </Group>
        </Notice>
      ))}
      {open.length > shown.length && (
        <Button
          variant="default"
          size="compact-sm"
          onClick={() => setShowsAll(true)}
          style={{ alignSelf: 'flex-start' }}
        >
          Show {open.length - shown.length} more
        </Button>
      )}
    </Stack>
  )
}

const timeInText = /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/

/** The text is also emailed, with its time in UTC. Here it is in the time zone of the user, like all others. */
function Detail({ text }: { text: string }) {
  const [before, date, clock, after] = text.split(timeInText)
  if (date === undefined) return text
  return (
    <>
      {before}
      <DayAndClock at={`${date}T${clock}Z`} />
      {after}
    </>
  )
}

function Details({ notice }: { notice: OrganizationNotice }) {
  if (notice.webhook_id)
    return (
      <Anchor component={Link} to={paths.webhook(notice.webhook_id)} underline="always" inherit>
        View webhook
      </Anchor>
    )
  if (!notice.path || notice.path === paths.activity) return null
  return (
    <Anchor component={Link} to={notice.path} underline="always" inherit>
      View details
    </Anchor>
  )
}

/** Imports are listed on their own page. */
const isPast = ({ kind, state }: OrganizationNotice) => kind !== 'import_finished' && state !== 'open'

/** The last problems that were solved or dismissed. */
export function PastNotices() {
  const [isShown, setShown] = useState(false)
  const past = (useQuery(noticesQuery).data ?? []).filter(isPast)
  if (past.length === 0) return null
  return (
    <Stack gap="xs" mb="md" align="flex-start">
      <Button variant="default" size="compact-sm" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'} past problems ({past.length})
      </Button>
      {isShown && (
        <Stack component="ul" gap="xs" m={0} p={0} aria-label="Past problems" style={{ listStyle: 'none' }}>
          {past.map((notice) => (
            <li key={notice.id}>
              <Text span fw={600}>
                {notice.title}
              </Text>{' '}
              <StatusBadge tone={notice.state === 'resolved' ? 'good' : 'neutral'}>
                {notice.state === 'resolved' ? 'Solved' : 'Dismissed'}
              </StatusBadge>{' '}
              <Text span size="sm" c="dimmed">
                <Time at={notice.created_at} />
              </Text>
              <Text size="sm" c="dimmed">
                <Detail text={notice.detail} /> <Details notice={notice} />
              </Text>
            </li>
          ))}
        </Stack>
      )}
    </Stack>
  )
}
