import { CloseButton } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useEffect, useSyncExternalStore } from 'react'
import classes from './toast.module.css'

type Toast = { id: number; text: string; tone: 'good' | 'bad' }

const shownForMs = 6_000
const toastsMax = 3

let toasts: Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** A short confirmation that disappears. Anything that needs a decision belongs next to its cause instead. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
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
        <ToastView key={one.id} toast={one} />
      ))}
    </div>
  )
}

function ToastView({ toast: { id, text, tone } }: { toast: Toast }) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), shownForMs)
    return () => clearTimeout(timer)
  }, [id])
  return (
    <div className={classes.toast} data-tone={tone}>
      {tone === 'good' ? <IconCircleCheck size={18} aria-hidden /> : <IconAlertTriangle size={18} aria-hidden />}
      <span className={classes.text}>{text}</span>
      <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(id)} />
    </div>
  )
}
