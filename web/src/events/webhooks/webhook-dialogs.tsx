import { useState } from 'react'
import type { Webhook } from '../../api/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { ReplayForm } from './replay-form.tsx'
import { RotateForm } from './rotate-form.tsx'
import { SigningSecret } from './signing-secret.tsx'
import { TestForm } from './test-form.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { changeWebhook, useRefreshWebhooks } from './webhooks.api.ts'

export type WebhookDialog = 'edit' | 'test' | 'rotate' | 'replay' | 'resumed'

const titles: Record<WebhookDialog, string> = {
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
  const closeSecret = () => {
    setSecret(undefined)
    close()
  }
  return (
    <>
      <Dialog
        opened={dialog !== undefined && secret === undefined}
        onClose={close}
        size="lg"
        title={dialog && titles[dialog]}
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
