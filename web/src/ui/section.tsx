import { Box, Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = { title: string; description?: ReactNode; actions?: ReactNode; children: ReactNode }

/** A part of a page, under its own heading. */
export function Section({ title, description, actions, children }: Props) {
  return (
    <Box component="section" mb="xl" aria-label={title}>
      <Group justify="space-between" align="flex-start" mb="sm" gap="sm">
        <Box maw={680}>
          <Title order={2}>{title}</Title>
          {description && (
            <Text c="dimmed" mt={2}>
              {description}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Box>
  )
}
