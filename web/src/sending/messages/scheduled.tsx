import { Text } from '@mantine/core'
import type { Message } from '../../api/types.ts'
import { Notice } from '../../ui/notice.tsx'
import { DayAndClock } from '../../ui/time.tsx'

type Props = { message: Pick<Message, 'status' | 'send_at'> }

const timeOf = ({ status, send_at }: Props['message']) => (status === 'scheduled' ? send_at : null)

/** Below the status in a list. */
export function ScheduledLine({ message }: Props) {
  const at = timeOf(message)
  if (!at) return null
  return (
    <Text size="xs" c="dimmed" mt={2}>
      for <DayAndClock at={at} />
    </Text>
  )
}

/** On the page of a message. */
export function ScheduledNotice({ message }: Props) {
  const at = timeOf(message)
  if (!at) return null
  return (
    <Notice tone="info" role="status" title="Scheduled">
      This email will be sent on <DayAndClock at={at} />. Changes to the flow or the contact don’t affect its content.
    </Notice>
  )
}
