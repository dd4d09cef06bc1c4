import type { ComponentProps, MouseEvent } from 'react'
import { useEffect, useRef } from 'react'

// Longer than the key repeat of a held Enter; a started request sets the loading state within this time.
const samePressMs = 250
/** Operating systems count two clicks within half a second as a double click. */
const sameDoubleClickMs = 500
const never = Number.NEGATIVE_INFINITY

type Props = ComponentProps<'button'> & { 'data-loading'?: boolean }

/**
 * The element of every button. While loading it ignores clicks instead of being disabled, because browsers remove the focus
 * from disabled buttons. It also ignores a second click shortly after the first, so that nothing is sent twice.
 */
export function PressOnce({ type = 'button', disabled, onClick, onBlur, ...props }: Props) {
  const pressedAt = useRef(never)
  const loading = Boolean(props['data-loading'])
  // After loading, or after the focus was elsewhere, the next press counts even if it follows quickly.
  useEffect(() => {
    if (loading) pressedAt.current = never
  }, [loading])
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    const samePress = event.detail > 1 ? sameDoubleClickMs : samePressMs
    const again = event.timeStamp - pressedAt.current < samePress
    // Also prevents submitting the form.
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
