import type { AudienceCount } from '../api/types.ts'
import { count } from '../ui/numbers.ts'

type Counts = Pick<AudienceCount, 'suppressed' | 'unsubscribed' | 'not_subscribed'>

/** Who of the audience gets nothing and why, such as “2 unsubscribed, 1 suppressed”. Empty if everybody gets it. */
export function leftOutText(counts: Counts, isAnnouncement: boolean): string {
  const reasons: [number, string][] = [
    // A service announcement ignores subscriptions.
    [isAnnouncement ? 0 : counts.unsubscribed, 'unsubscribed'],
    [isAnnouncement ? 0 : counts.not_subscribed, 'not subscribed'],
    [counts.suppressed, 'suppressed'],
  ]
  return reasons
    .filter(([people]) => people > 0)
    .map(([people, reason]) => `${count(people)} ${reason}`)
    .join(', ')
}
