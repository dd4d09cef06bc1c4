import { Box, Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core'
import { type Icon, IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ApiError, messageOf } from '../api/api-error.ts'
import { Notice } from './notice.tsx'
import classes from './states.module.css'

export type Loadable<T> = {
  data: T | undefined
  error: unknown
  isFetching: boolean
  /** Whether `data` still belongs to the previous filter. */
  isPlaceholderData?: boolean
  refetch: () => unknown
}

type Props<T> = {
  query: Loadable<T>
  /** Shown instead of the children if there is no data yet: what will appear here, and the next step. */
  empty?: ReactNode
  isEmpty?: (data: T) => boolean
  loading?: ReactNode
  children: (data: T) => ReactNode
}

/** The four states of a page: loading, failed with a retry, empty with the next step, and loaded. */
export function Load<T>({ query, empty, isEmpty, loading, children }: Props<T>) {
  if (query.data === undefined) {
    if (query.error) return <Failed error={query.error} retry={query.refetch} retrying={query.isFetching} />
    return loading ?? <LoadingRows />
  }
  return (
    <>
      {Boolean(query.error) && (
        <Box mb="sm">
          <Failed error={query.error} retry={query.refetch} retrying={query.isFetching} stale />
        </Box>
      )}
      <div className={classes.content} aria-busy={query.isPlaceholderData ?? false}>
        {isEmpty?.(query.data) ? empty : children(query.data)}
      </div>
    </>
  )
}

export function LoadingRows({ rows = 5 }: { rows?: number }) {
  return (
    <Stack gap="xs" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
        <Skeleton key={row} height={40} radius="md" />
      ))}
    </Stack>
  )
}

type FailedProps = { error: unknown; retry?: () => unknown; retrying?: boolean; stale?: boolean }

export function Failed({ error, retry, retrying, stale }: FailedProps) {
  const missing = error instanceof ApiError && error.status === 404
  const title = stale ? 'Couldn’t refresh' : missing ? messageOf(error).replace(/\.$/, '') : 'Couldn’t load'
  return (
    <Notice role="alert" tone="bad" title={title}>
      {(stale || !missing) && <Text>{messageOf(error)}</Text>}
      {error instanceof ApiError && error.requestId && (
        <Text size="xs" c="dimmed" mt={4}>
          Request {error.requestId}
        </Text>
      )}
      {retry && !missing && (
        <Button
          mt="sm"
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} aria-hidden />}
          loading={retrying ?? false}
          onClick={() => void retry()}
        >
          Try again
        </Button>
      )}
    </Notice>
  )
}

export type EmptyProps = { title: string; icon?: Icon; children?: ReactNode; action?: ReactNode }

export function Empty({ title, icon: Icon, children, action }: EmptyProps) {
  return (
    <Paper withBorder p="xl" ta="center">
      <Stack align="center" gap="xs" maw={460} mx="auto" py="md">
        {Icon && (
          <Box c="dimmed">
            <Icon size={32} aria-hidden />
          </Box>
        )}
        <Title order={2}>{title}</Title>
        {children && <Text c="dimmed">{children}</Text>}
        {action && (
          <Group mt="xs" justify="center">
            {action}
          </Group>
        )}
      </Stack>
    </Paper>
  )
}

/** The error of an action, next to its button. */
export function ErrorLine({ children }: { children: ReactNode }) {
  if (!children) return null
  return (
    <Notice role="alert" tone="bad">
      {children}
    </Notice>
  )
}
