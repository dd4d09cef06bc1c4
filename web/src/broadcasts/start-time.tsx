import { useMe } from '../session/session.api.ts'
import { timeIn } from './local-time.ts'

/** When a broadcast starts, in the time zone of the organization, such as “Dec 1, 09:00 (Europe/Vienna)”. */
export function StartTime({ at }: { at: string | null }) {
  const zone = useMe().data?.organization.timezone
  if (at === null || zone === undefined) return 'at its time'
  return (
    <time dateTime={at}>
      {timeIn(zone)(at)} ({zone.replaceAll('_', ' ')})
    </time>
  )
}
