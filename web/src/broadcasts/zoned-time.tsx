import { useMe } from '../accounts/session/session.api.ts'
import { timeIn, zoneName } from './local-time.ts'

/** A time of a broadcast in the time zone of the organization, such as “Dec 1, 09:00 (Europe/Vienna)”. */
export function ZonedTime({ at }: { at: string | null }) {
  const zone = useMe().data?.organization.timezone
  if (at === null || zone === undefined) return 'at its time'
  return (
    <time dateTime={at}>
      {timeIn(zone)(at)} ({zoneName(zone)})
    </time>
  )
}
