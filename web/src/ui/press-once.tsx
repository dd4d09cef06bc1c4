import type { ComponentProps, MouseEvent } from 'react'
import { useEffect, useRef } from 'react'

// Enter held down repeats faster; and a request that began is shown as loading by then.
const samePressMs = 250
/** Systems take two clicks within half a second for one double click, and count them. */
const sameDoubleClickMs = 500
const never = Number.NEGATIVE_INFINITY

type Props = ComponentProps<'button'> & { 'data-loading'?: boolean }

/**
 * The element of every button. One that works keeps the focus, which the browser takes from what is disabled, and is
 * deaf instead; so is one that was pressed a moment ago, and nothing is sent twice.
 */
export function PressOnce({ type = 'button', disabled, onClick, onBlur, ...props }: Props) {
  const pressedAt = useRef(never)
  const loading = Boolean(props['data-loading'])
  // Once it has worked, or something else had the focus, the next press is meant, however soon it comes.
  useEffect(() => {
    if (loading) pressedAt.current = never
  }, [loading])
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    const samePress = event.detail > 1 ? sameDoubleClickMs : samePressMs
    const again = event.timeStamp - pressedAt.current < samePress
    // Prevented, so that a form is not submitted either.
    if (loading || again) return event.preventDefault()
    pressedAt.current = event.timeStamp
    onClick?.(event)
  }
  return (
    <button
      {...props}
      type={type}
      disabled={disabled && !loading}
      aria-disabled={loading || undefined}
      onClick={press}
      onBlur={(event) => {
        pressedAt.current = never
        onBlur?.(event)
      }}
    />
  )
}
