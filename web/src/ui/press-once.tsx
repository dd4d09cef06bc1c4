import type { ComponentProps, MouseEvent } from 'react'
import { useEffect, useRef } from 'react'

// Enter held down repeats faster; and a request that began is shown as loading by then.
const samePressMs = 250

type Props = ComponentProps<'button'> & { 'data-loading'?: boolean }

/**
 * The element of every button. One that works keeps the focus, which the browser takes from what is disabled, and is
 * deaf instead; so is one that was pressed a moment ago, and nothing is sent twice.
 */
export function PressOnce({ type = 'button', disabled, onClick, ...props }: Props) {
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  const loading = Boolean(props['data-loading'])
  // Once it has worked the next press is meant, however soon it comes.
  useEffect(() => {
    if (loading) pressedAt.current = Number.NEGATIVE_INFINITY
  }, [loading])
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // The detail counts the clicks that the person's system takes for one double click.
    const again = event.detail > 1 || event.timeStamp - pressedAt.current < samePressMs
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
    />
  )
}
