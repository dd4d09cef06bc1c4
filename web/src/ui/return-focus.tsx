import { useEffect, useState } from 'react'

const passing = '[role=menu], .mantine-Modal-content'

// Items of a menu and fields of a dialog are gone when a dialog closes; what was focused before them is not.
let lasting: HTMLElement | undefined
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && !target.closest(passing)) lasting = target
})

/** Stands in a dialog. When it goes, the keyboard is back at what opened it, or at the page where that is gone. */
export function ReturnFocus() {
  const [opener] = useState(lasting)
  useEffect(
    () => () => {
      // Whoever is elsewhere by now, such as on the next page, stays there.
      if (document.activeElement !== document.body) return
      const back = opener?.isConnected ? opener : document.getElementById('main')
      back?.focus({ preventScroll: true })
    },
    [opener],
  )
  return null
}
