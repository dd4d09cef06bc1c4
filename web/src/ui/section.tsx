import { Box, Group, Text, Title, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  title: string
  /** For the first section of a tab that has the same name: the heading is only for screen readers. */
  titleHidden?: boolean
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A part of a page, under its own heading. */
export function Section({ title, titleHidden, description, actions, children }: Props) {
  return (
    <Box component="section" mb="xl" aria-label={title}>
      <Group justify="space-between" align="flex-start" mb="sm" gap="sm">
        <Box maw={680}>
          {titleHidden ? <VisuallyHidden component="h2">{title}</VisuallyHidden> : <Title order={2}>{title}</Title>}
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
