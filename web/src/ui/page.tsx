import { Anchor, Box, Group, Text, Title } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import classes from './page.module.css'

type Props = {
  title: string
  /** What the browser's tab says, where it is not the title. */
  tabTitle?: string
  /** What stands beside the title: a state, a copy button. */
  beside?: ReactNode
  description?: ReactNode
  back?: { to: string; label: string }
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, tabTitle, beside, description, back, actions, children }: Props) {
  return (
    <Box className={classes.page}>
      <title>{`${tabTitle ?? title} · Waxwing`}</title>
      {back && (
        <Anchor component={Link} to={back.to} size="sm" c="dimmed" className={classes.back}>
          <IconArrowLeft size={14} aria-hidden /> {back.label}
        </Anchor>
      )}
      <Group justify="space-between" align="flex-start" gap="sm" mb="md">
        <Box maw={720}>
          <Group gap="sm" align="center">
            <Title order={1} className="break">
              {title}
            </Title>
            {beside}
          </Group>
          {description && (
            <Text c="dimmed" mt={4}>
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
