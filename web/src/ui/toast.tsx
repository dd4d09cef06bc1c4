import { CloseButton } from '@mantine/core'
import { useEffect, useSyncExternalStore } from 'react'
import classes from './toast.module.css'

type Toast = { id: number; text: string; tone: 'still' | 'bad' }

const shownForMs = 6_000
const toastsMax = 3

let toasts: Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** A short word that something is done. What needs an answer belongs where the person is looking, not here. */
export function toast(text: string, tone: Toast['tone'] = 'still'): void {
  change([...toasts.slice(1 - toastsMax), { id: ++lastId, text, tone }])
}

function change(next: Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

const dismiss = (id: number) => change(toasts.filter((toast) => toast.id !== id))

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className={classes.corner} aria-live="polite">
      {shown.map((one) => (
        <OneToast key={one.id} toast={one} />
      ))}
    </div>
  )
}

function OneToast({ toast: { id, text, tone } }: { toast: Toast }) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), shownForMs)
    return () => clearTimeout(timer)
  }, [id])
  return (
    <div className={classes.toast} data-tone={tone}>
      {text}
      <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  )
}
