import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import logo from '../../logo.svg'
import classes from './auth-layout.module.css'

/** The layout of the pages for signing in, registering and accepting an invitation. */
export function AuthLayout({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <main className={classes.place}>
      <title>{`${title} · Waxwing`}</title>
      <Stack gap="lg" w="100%" maw={400}>
        <Stack gap={4} align="center">
          <img src={logo} alt="" width={72} height={72} />
          <Text fw={650} fz={20}>
            Waxwing
          </Text>
        </Stack>
        <Paper withBorder p="xl">
          <Title order={1} mb={4}>
            {title}
          </Title>
          {lead && (
            <Text c="dimmed" mb="md">
              {lead}
            </Text>
          )}
          {children}
        </Paper>
      </Stack>
    </main>
  )
}
