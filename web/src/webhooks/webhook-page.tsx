import { ActionIcon, Button, Menu } from '@mantine/core'
import {
  IconDots,
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
import { useParams } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import type { Webhook } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { type WebhookDialog, WebhookDialogs } from './webhook-dialogs.tsx'
import { WebhookFacts } from './webhook-facts.tsx'
import { WebhookHealth } from './webhook-health.tsx'
import { changeWebhook, useRefreshWebhooks, webhookQuery } from './webhooks.api.ts'

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
          <MoreMenu open={setDialog} />
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

function MoreMenu({ open }: { open: (dialog: WebhookDialog) => void }) {
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon size={36} variant="default" aria-label="More actions">
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => open('edit')}>
          Edit
        </Menu.Item>
        <Menu.Item leftSection={<IconKey size={16} aria-hidden />} onClick={() => open('rotate')}>
          Rotate secret
        </Menu.Item>
        <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => open('replay')}>
          Replay failed
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          color="var(--mantine-color-error)"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => open('delete')}
        >
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
