import { Anchor } from '@mantine/core'
import type { MouseEvent, ReactNode } from 'react'
import { Link } from 'react-router'

const mark = 'data-row-link'
const controls = 'a, button, input, label, select, textarea, [role=button]'

/** The link of a table row. It is the only tab stop of the row; the mouse may also click elsewhere in it, see `openRow`. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} c="inherit" fw={600} underline="hover" className="break" {...{ [mark]: '' }}>
      {children}
    </Anchor>
  )
}

/**
 * Follows the link of the row that was clicked. A handler rather than a link stretched over the row, so that the text
 * can be selected and shows its tooltips. Clicks on other controls and the end of a text selection are left alone.
 */
export function openRow(event: MouseEvent<HTMLElement>): void {
  const { target, currentTarget, button, ctrlKey, metaKey, shiftKey } = event
  if (!(target instanceof Element) || target.closest(controls) || window.getSelection()?.isCollapsed === false) return
  const row = target.closest('tr')
  // A menu opened from a row is rendered elsewhere, but React bubbles its events to the row.
  if (!row || !currentTarget.contains(row)) return
  const link = row.querySelector<HTMLAnchorElement>(`a[${mark}]`)
  if (!link) return
  // As on a link: the middle button and Ctrl or Cmd open a new tab.
  if (button === 1 || ctrlKey || metaKey || shiftKey) window.open(link.href, '_blank', 'noopener')
  else if (button === 0) link.click()
}
