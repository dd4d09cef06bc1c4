import { Button, Stack } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useParams } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import type { DeliveryDetail } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { CodeBlock, Copyable } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { indentedJson } from '../../ui/json.ts'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty, ErrorLine, Load } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { isSoon, Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { AttemptView } from './attempt-view.tsx'
import { DeliveryStatusBadge } from './delivery-status.tsx'
import { deliveryQuery, replayDelivery, useRefreshWebhooks } from './webhooks.api.ts'

export function DeliveryPage() {
  const { id = '', webhookId = '' } = useParams()
  const delivery = useQuery(deliveryQuery(id))
  const refresh = useRefreshWebhooks()
  const replay = useMutation({
    mutationFn: () => replayDelivery(id),
    onSuccess: async () => {
      await refresh()
      toast('Delivery queued for replay.')
    },
  })
  return (
    <Page
      title={delivery.data ? `Delivery of ${delivery.data.event_name}` : 'Delivery'}
      beside={
        delivery.data && (
          <>
            <DeliveryStatusBadge delivery={delivery.data} />
            {delivery.data.is_test && <StatusBadge tone="neutral">Test</StatusBadge>}
          </>
        )
      }
      back={{ to: paths.webhook(webhookId), label: 'Webhook' }}
      actions={
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={replay.isPending}
          disabled={!delivery.data || delivery.data.status === 'pending'}
          onClick={() => replay.mutate()}
        >
          Replay
        </Button>
      }
    >
      {replay.isError && <ErrorLine>{messageOf(replay.error)}</ErrorLine>}
      <Load query={delivery}>{(detail) => <DeliveryView delivery={detail} />}</Load>
    </Page>
  )
}

function DeliveryView({ delivery }: { delivery: DeliveryDetail }) {
  return (
    <>
      <Facts
        facts={[
          ['Delivery ID', <Copyable key="id" value={delivery.id} label="Copy delivery ID" />],
          ['Event time', <Time key="at" at={delivery.created_at} />],
          ['Delivered', <Time key="done" at={delivery.delivered_at} none="Not yet" />],
          ['Next attempt', nextAttempt(delivery)],
        ]}
      />
      <Section title="Attempts">
        {delivery.attempts.length === 0 ? (
          <Empty title="No attempts yet">The delivery is pending. This page updates automatically.</Empty>
        ) : (
          <Stack gap="sm">
            {delivery.attempts.toReversed().map((attempt) => (
              <AttemptView key={attempt.number} attempt={attempt} />
            ))}
          </Stack>
        )}
      </Section>
      <Section
        title="Payload"
        description="Formatted for reading. Copy it to get the exact body that is sent on every attempt."
      >
        {delivery.payload === null ? (
          <Empty title="Not available">The event of this delivery was erased.</Empty>
        ) : (
          <CodeBlock code={delivery.payload} shown={indentedJson(delivery.payload)} label="payload" />
        )}
      </Section>
    </>
  )
}

function nextAttempt({ next_attempt_at: at }: DeliveryDetail): ReactNode {
  return at && isSoon(at) ? 'Now' : <Time at={at} none="No retry scheduled" />
}
