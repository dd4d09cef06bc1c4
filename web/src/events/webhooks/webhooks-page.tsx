import { Button, Text } from '@mantine/core'
import { IconPlus, IconWebhook } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewWebhook, Webhook } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ApiReferenceLink, GuideLink } from '../../ui/api-reference.tsx'
import { useCreateRequest } from '../../ui/create-request.ts'
import { CreatedBy } from '../../ui/created-by.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TableList } from '../../ui/list.tsx'
import { RowLink } from '../../ui/row-link.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { SigningSecret } from './signing-secret.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { eventsOf, successShare, WebhookHealth } from './webhook-health.tsx'
import { createWebhook, useRefreshWebhooks, webhooksQuery } from './webhooks.api.ts'

const columns: Column<Webhook>[] = [
  {
    header: 'Webhook',
    phone: 'title',
    cell: (webhook) => (
      <>
        <RowLink to={paths.webhook(webhook.id)}>{webhook.name}</RowLink>
        <Text size="xs" c="dimmed" className="break">
          {webhook.url}
        </Text>
      </>
    ),
  },
  { header: 'Health', cell: (webhook) => <WebhookHealth webhook={webhook} /> },
  { header: 'Events', phone: 'hide', cell: (webhook) => <Text size="xs">{eventsOf(webhook)}</Text> },
  { header: 'Success rate, 24 h', align: 'right', cell: successShare },
  { header: 'Created by', phone: 'hide', cell: (webhook) => <CreatedBy creator={webhook.created_by} /> },
  { header: 'Last delivery', align: 'right', cell: (webhook) => <Time at={webhook.last_delivery_at} /> },
]

export function WebhooksPage() {
  const webhooks = useQuery(webhooksQuery)
  const [creating, setCreating] = useState(false)
  useCreateRequest(() => setCreating(true))
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      Add webhook
    </Button>
  )
  return (
    <Section
      title="Webhooks"
      titleHidden
      description={
        <>
          Send opens, clicks, bounces and unsubscribes to your app as they happen. See{' '}
          <GuideLink name="events">events and payloads</GuideLink> and the <ApiReferenceLink />.
        </>
      }
      actions={webhooks.data && webhooks.data.length > 0 && add}
    >
      <TableList
        label="Webhooks"
        query={webhooks}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{
          title: 'No webhooks yet',
          icon: IconWebhook,
          action: add,
          children: 'Add your endpoint URL, choose events and send a test event.',
        }}
      />
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </Section>
  )
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const refresh = useRefreshWebhooks()
  const [created, setCreated] = useState<NewWebhook>()
  return (
    <Dialog
      // A separate dialog for the secret, so that it starts at its top.
      key={created ? 'secret' : 'form'}
      opened
      onClose={onClose}
      size="lg"
      title={created ? 'Webhook created' : 'Add webhook'}
      // The secret must not disappear because of an accidental key or click.
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? (
        <SigningSecret secret={created.signing_secret} webhook={created} onDone={onClose} />
      ) : (
        <WebhookForm
          action="Create webhook"
          save={createWebhook}
          onSaved={(webhook) => {
            setCreated(webhook)
            void refresh()
          }}
          onCancel={onClose}
        />
      )}
    </Dialog>
  )
}
