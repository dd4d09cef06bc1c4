import { Button, Group, Select, Stack } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { Webhook, WebhookEventName } from '../../api/types.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { AttemptView } from './attempt-view.tsx'
import { eventTypesQuery, testWebhook, useRefreshWebhooks } from './webhooks.api.ts'

export function TestForm({ webhook }: { webhook: Webhook }) {
  const types = useQuery(eventTypesQuery)
  const refresh = useRefreshWebhooks()
  const [eventName, setEventName] = useState<WebhookEventName>(webhook.event_types[0] ?? 'emailOpen')
  const test = useMutation({ mutationFn: () => testWebhook(webhook.id, eventName), onSuccess: () => refresh() })
  const example = types.data?.find((type) => type.event_name === eventName)?.example
  return (
    <Stack gap="md">
      <Group align="flex-end" gap="xs">
        <Select
          label="Event type"
          flex={1}
          data={types.data?.map((type) => type.event_name) ?? [eventName]}
          value={eventName}
          onChange={(value) => {
            if (value) setEventName(value as WebhookEventName)
            test.reset()
          }}
          allowDeselect={false}
        />
        <Button loading={test.isPending} onClick={() => test.mutate()}>
          Send
        </Button>
      </Group>
      {test.isError && <ErrorLine>{messageOf(test.error)}</ErrorLine>}
      {!test.data && example !== undefined && (
        <CodeBlock code={JSON.stringify(example, null, 2)} label="sample payload" />
      )}
      <div role="status">{test.data && <AttemptView attempt={test.data.attempt} />}</div>
    </Stack>
  )
}
