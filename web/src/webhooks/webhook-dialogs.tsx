import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Webhook } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { toast } from '../ui/toast.tsx'
import { ReplayForm } from './replay-form.tsx'
import { RotateForm } from './rotate-form.tsx'
import { SigningSecret } from './signing-secret.tsx'
import { TestForm } from './test-form.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { changeWebhook, deleteWebhook, useRefreshWebhooks } from './webhooks.api.ts'

export type WebhookDialog = 'edit' | 'test' | 'rotate' | 'replay' | 'resumed' | 'delete'

const titles: Record<Exclude<WebhookDialog, 'delete'>, string> = {
  edit: 'Edit webhook',
  test: 'Send test event',
  rotate: 'Rotate signing secret',
  replay: 'Replay failed deliveries',
  resumed: 'Replay failed deliveries?',
}

type Props = { webhook: Webhook; dialog: WebhookDialog | undefined; close: () => void }

export function WebhookDialogs({ webhook, dialog, close }: Props) {
  // Stored here and not in the form, so that a secret created while the form is being closed is still shown.
  const [secret, setSecret] = useState<string>()
  const refresh = useRefreshWebhooks()
  const navigate = useNavigate()
  const deleteIt = async () => {
    await deleteWebhook(webhook.id)
    await navigate(paths.webhooks)
    await refresh()
  }
  const closeSecret = () => {
    setSecret(undefined)
    close()
  }
  const shown = dialog === 'delete' ? undefined : dialog
  return (
    <>
      <Confirm
        opened={dialog === 'delete'}
        onClose={close}
        title="Delete webhook"
        action="Delete webhook"
        run={deleteIt}
      >
        <strong>{webhook.name}</strong> will stop receiving events. Its pending deliveries and its delivery log will be
        deleted. This can’t be undone.
      </Confirm>
      <Dialog
        opened={shown !== undefined && secret === undefined}
        onClose={close}
        size="lg"
        title={shown && titles[shown]}
      >
        {dialog === 'edit' && (
          <WebhookForm
            webhook={webhook}
            action="Save"
            save={(input) => changeWebhook(webhook.id, input)}
            onSaved={() => {
              void refresh()
              toast('Webhook saved.')
              close()
            }}
            onCancel={close}
          />
        )}
        {dialog === 'test' && <TestForm webhook={webhook} />}
        {dialog === 'rotate' && <RotateForm webhook={webhook} onRotated={setSecret} onCancel={close} />}
        {(dialog === 'replay' || dialog === 'resumed') && (
          <ReplayForm webhook={webhook} resumed={dialog === 'resumed'} onDone={close} />
        )}
      </Dialog>
      <Dialog
        opened={secret !== undefined}
        onClose={closeSecret}
        size="lg"
        title="New signing secret"
        // It must not disappear because of an accidental key or click.
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        {secret !== undefined && <SigningSecret secret={secret} webhook={webhook} onDone={closeSecret} />}
      </Dialog>
    </>
  )
}
