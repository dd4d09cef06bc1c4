import type { Pages } from '../api/pages.ts'
import { StatusBadge } from './status-badge.tsx'

/** Says whether the list renews itself. It stops while older pages are shown, so that nothing moves under the eye. */
export function LiveMark({ pages }: { pages: Pages<unknown> }) {
  if (pages.data === undefined || pages.error) return null
  return pages.live ? <StatusBadge tone="good">Live</StatusBadge> : <StatusBadge tone="still">Not live</StatusBadge>
}
