import { Button } from '@mantine/core'
import {
  IconKey,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import type { Webhook } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { type WebhookDialog, WebhookDialogs } from './webhook-dialogs.tsx'
import { WebhookFacts } from './webhook-facts.tsx'
import { WebhookHealth } from './webhook-health.tsx'
import { changeWebhook, deleteWebhook, useRefreshWebhooks, webhookQuery } from './webhooks.api.ts'

const back = { to: paths.webhooks, label: 'Webhooks' }

export function WebhookPage() {
  const { id = '' } = useParams()
  const webhook = useQuery(webhookQuery(id))
  if (webhook.data) return <WebhookView webhook={webhook.data} />
  return (
    <Page title="Webhook" back={back}>
      <Load query={webhook}>{() => null}</Load>
    </Page>
  )
}

function WebhookView({ webhook }: { webhook: Webhook }) {
  const [dialog, setDialog] = useState<WebhookDialog>()
  const refresh = useRefreshWebhooks()
  const paused = webhook.status === 'paused'
  const toggle = useMutation({
    mutationFn: () => changeWebhook(webhook.id, { status: paused ? 'active' : 'paused' }),
    onSuccess: async () => {
      await refresh()
      toast(paused ? 'Webhook resumed.' : 'Webhook paused.')
      if (paused) setDialog('resumed')
    },
  })

  return (
    <Page
      title={webhook.name}
      beside={<WebhookHealth webhook={webhook} />}
      back={back}
      actions={
        <>
          <Button
            variant="default"
            leftSection={paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
            loading={toggle.isPending}
            onClick={() => toggle.mutate()}
          >
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <Button leftSection={<IconSend size={16} aria-hidden />} onClick={() => setDialog('test')}>
            Send test event
          </Button>
          <WebhookMenu webhook={webhook} open={setDialog} />
        </>
      }
    >
      {toggle.isError && <ErrorLine>{messageOf(toggle.error)}</ErrorLine>}
      {paused && (
        <Notice tone="warn" title="This webhook is paused">
          {webhook.paused_reason ?? 'Events aren’t delivered while it is paused. You can replay them after resuming.'}
        </Notice>
      )}
      <WebhookFacts webhook={webhook} />
      <DeliveryLog webhook={webhook} onReplay={() => setDialog('replay')} />
      <WebhookDialogs webhook={webhook} dialog={dialog} close={() => setDialog(undefined)} />
    </Page>
  )
}

function WebhookMenu({ webhook, open }: { webhook: Webhook; open: (dialog: WebhookDialog) => void }) {
  const refresh = useRefreshWebhooks()
  const navigate = useNavigate()
  return (
    <ActionMenu
      actions={[
        { label: 'Edit', icon: IconPencil, run: () => open('edit') },
        { label: 'Rotate secret', icon: IconKey, run: () => open('rotate') },
        { label: 'Replay failed', icon: IconRefresh, run: () => open('replay') },
        {
          label: 'Delete',
          icon: IconTrash,
          danger: true,
          confirm: {
            title: 'Delete webhook',
            action: 'Delete webhook',
            children: (
              <>
                <strong>{webhook.name}</strong> will stop receiving events. Its pending deliveries and its delivery log
                will be deleted. This can’t be undone.
              </>
            ),
            run: async () => {
              await deleteWebhook(webhook.id)
              await navigate(paths.webhooks)
              await refresh()
            },
          },
        },
      ]}
    />
  )
}
