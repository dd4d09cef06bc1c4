import { Anchor, Box, Group, Text, Title } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import classes from './page.module.css'

type Props = {
  title: string
  /** The title of the browser tab, if it differs. */
  tabTitle?: string
  /** Shown next to the title: a status, a copy button. */
  beside?: ReactNode
  description?: ReactNode
  back?: { to: string; label: string }
  actions?: ReactNode
  /** Uses the full width of large screens, for tables and editors. Text is easier to read in a narrow column. */
  wide?: boolean
  children: ReactNode
}

export function Page({ title, tabTitle, beside, description, back, actions, wide, children }: Props) {
  return (
    <Box className={classes.page} data-wide={wide || undefined}>
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
