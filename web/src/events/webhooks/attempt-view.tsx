import { Group, Paper, Stack, Text } from '@mantine/core'
import type { Attempt } from '../../api/types.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { ExactTime } from '../../ui/time.tsx'

/** One delivery attempt: time, duration, request, response and result. */
export function AttemptView({ attempt }: { attempt: Attempt }) {
  const good = attempt.outcome === 'acknowledged'
  const headers = Object.entries(attempt.request_headers ?? {})
  return (
    <Paper withBorder p="md" component="article" aria-label={`Attempt ${attempt.number}`}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Text fw={600}>Attempt {attempt.number}</Text>
            <StatusBadge tone={good ? 'good' : 'bad'}>
              {attempt.status_code === null ? 'No response' : `HTTP ${attempt.status_code}`}
            </StatusBadge>
          </Group>
          <Text size="xs" c="dimmed">
            <ExactTime at={attempt.at} /> · {attempt.duration_ms.toLocaleString('en')} ms
          </Text>
        </Group>
        {attempt.reason && <Text>{attempt.reason}</Text>}
        {headers.length > 0 && (
          <div>
            <Text size="xs" c="dimmed" mb={4}>
              Request headers
            </Text>
            <CodeBlock code={headers.map(([name, value]) => `${name}: ${value}`).join('\n')} label="request headers" />
          </div>
        )}
        {attempt.response_body && (
          <div>
            <Text size="xs" c="dimmed" mb={4}>
              Response
            </Text>
            <CodeBlock code={attempt.response_body} label="response" />
          </div>
        )}
      </Stack>
    </Paper>
  )
}
