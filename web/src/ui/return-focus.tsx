import { useEffect, useState } from 'react'

const temporaryContainers = '[role=menu], .mantine-Modal-content'

// Menu items and fields of dialogs no longer exist when a dialog closes, so the focus before them is remembered.
let lastOutside: HTMLElement | undefined
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && !target.closest(temporaryContainers)) lastOutside = target
})

/** Rendered in a dialog. When it closes, the focus returns to its opener, or to the main content if the opener is gone. */
export function ReturnFocus() {
  const [opener] = useState(lastOutside)
  useEffect(
    () => () => {
      // The focus is already elsewhere, for example on the next page.
      if (document.activeElement !== document.body) return
      const back = opener?.isConnected ? opener : document.getElementById('main')
      back?.focus({ preventScroll: true })
    },
    [opener],
  )
  return null
}
