import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconAlertCircle, IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import type { ReactNode } from 'react'

export type StepState = 'done' | 'todo' | 'failing'

type Props = { title: string; state: StepState; isOptional?: boolean; children: ReactNode }

const icons = {
  done: { Icon: IconCircleCheckFilled, label: 'Done', color: 'var(--good-text)' },
  todo: { Icon: IconCircle, label: 'To do', color: 'var(--mantine-color-dimmed)' },
  failing: { Icon: IconAlertCircle, label: 'Problem', color: 'var(--bad-text)' },
}

export function SetupStep({ title, state, isOptional = false, children }: Props) {
  const { Icon, label, color } = icons[state]
  return (
    <Paper component="li" withBorder p="md">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Icon size={22} role="img" aria-label={label} style={{ color, flex: 'none' }} />
        <Stack gap={6} miw={0} flex={1} align="flex-start">
          <Title order={2} size="h4">
            {title}
            {isOptional && (
              <Text span c="dimmed" size="sm" fw={400}>
                {' '}
                (optional)
              </Text>
            )}
          </Title>
          {children}
        </Stack>
      </Group>
    </Paper>
  )
}
