import type { Pages } from '../api/pages.ts'
import { useOnline } from './online.ts'
import { StatusBadge } from './status-badge.tsx'

/** Shows whether the list updates automatically. It does not while more than one page is shown, so that no row moves unexpectedly. */
export function LiveBadge({ pages }: { pages: Pages<unknown> }) {
  const online = useOnline()
  if (pages.data === undefined) return null
  if (!online) return <StatusBadge tone="neutral">Offline</StatusBadge>
  return pages.live ? <StatusBadge tone="good">Live</StatusBadge> : <StatusBadge tone="neutral">Not live</StatusBadge>
}
