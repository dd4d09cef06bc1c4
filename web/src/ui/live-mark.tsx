import type { Pages } from '../api/pages.ts'
import { useOnline } from './online.ts'
import { StatusBadge } from './status-badge.tsx'

/** Shows whether the list updates on its own. It does not while older pages are shown, so that no row moves unexpectedly. */
export function LiveMark({ pages }: { pages: Pages<unknown> }) {
  const online = useOnline()
  if (pages.data === undefined) return null
  if (!online) return <StatusBadge tone="still">Offline</StatusBadge>
  return pages.live ? <StatusBadge tone="good">Live</StatusBadge> : <StatusBadge tone="still">Not live</StatusBadge>
}
