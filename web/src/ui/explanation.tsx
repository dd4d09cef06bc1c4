import { ActionIcon, Popover, Text } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** An (i) that shows more about what is beside it. Opens on a press, so that it also works by touch and keyboard. */
export function Explanation({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Popover width={340} position="bottom-start" shadow="md" withArrow trapFocus={false} returnFocus>
      <Popover.Target>
        <ActionIcon
          component="button"
          size={24}
          variant="subtle"
          color="gray"
          aria-label={label}
          style={{ verticalAlign: 'middle' }}
        >
          <IconInfoCircle size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Text component="div" size="sm">
          {children}
        </Text>
      </Popover.Dropdown>
    </Popover>
  )
}
