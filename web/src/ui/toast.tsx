import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'

let shown: string | undefined

/** A short confirmation that disappears, or is replaced by the next. Anything that needs a decision belongs next to its cause instead. */
export function toast(text: string, tone: 'good' | 'bad' = 'good'): void {
  if (shown !== undefined) notifications.hide(shown)
  shown = notifications.show({
    message: text,
    role: 'status',
    withBorder: true,
    color: tone === 'good' ? 'green.8' : 'red',
    icon: tone === 'good' ? <IconCircleCheck size={18} aria-hidden /> : <IconAlertTriangle size={18} aria-hidden />,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}
