import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { MailServer } from '../../api/types.ts'
import { Copyable } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { changeMailServer, presetsQuery } from './mail-servers.api.ts'

type Words = { place: string; secret: string; label: string }

const words: Partial<Record<string, Words>> = {
  ses: {
    place:
      'In Amazon SNS, subscribe this address with the protocol HTTPS to the topic for bounces and complaints of your identity. The subscription is confirmed for you.',
    secret: 'topic ARN',
    label: 'Topic ARN',
  },
  sendgrid: {
    place: 'In SendGrid, add this address as an event webhook for the events Bounced, Dropped and Spam Reports.',
    secret: 'verification key',
    label: 'Verification key',
  },
  mailgun: {
    place: 'In Mailgun, add this address as a webhook for the events Permanent Failure and Spam Complaints.',
    secret: 'HTTP webhook signing key',
    label: 'HTTP webhook signing key',
  },
  postmark: {
    place:
      'In Postmark, add this address as a webhook of the message stream, for the events Bounce and Spam Complaint.',
    secret: 'password of the webhook',
    label: 'Password of the webhook',
  },
}

/** The address to which the provider reports bounces, for providers that are understood. */
export function ProviderReports({ server }: { server: MailServer }) {
  const presets = useQuery(presetsQuery)
  const [isEntering, setEntering] = useState(false)
  const provider = presets.data?.find(({ id }) => id === server.preset)?.webhook_provider
  const text = provider ? words[provider] : undefined
  if (!server.webhook_url || !text) return null
  return (
    <Section title="Bounces and complaints" description={`${text.place} Keep the address secret.`}>
      <Stack gap="sm" align="flex-start">
        <Copyable value={server.webhook_url} label="Copy webhook address" />
        <Group gap="sm">
          <Text size="sm">
            {server.has_webhook_secret
              ? `Reports are verified with the ${text.secret} that you entered.`
              : `Enter the ${text.secret} as well, so that reports of anyone else are rejected.`}
          </Text>
          <Button variant="default" size="xs" onClick={() => setEntering(true)}>
            {server.has_webhook_secret ? 'Replace' : 'Enter'}
          </Button>
        </Group>
      </Stack>
      {isEntering && <SecretDialog server={server} label={text.label} onClose={() => setEntering(false)} />}
    </Section>
  )
}

type DialogProps = { server: MailServer; label: string; onClose: () => void }

function SecretDialog({ server, label, onClose }: DialogProps) {
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: { webhook_secret: '' },
    send: ({ webhook_secret: secret }) => changeMailServer(server.id, { webhook_secret: secret.trim() || null }),
    onSuccess: async () => {
      await invalidate(keys.mailServers)
      toast('Saved.')
      onClose()
    },
  })
  return (
    <Dialog opened onClose={onClose} title={label}>
      <DialogForm form={form} action="Save" onCancel={onClose}>
        <PasswordInput
          label={label}
          description={server.has_webhook_secret ? 'Leave empty to remove the current one' : 'Stored encrypted'}
          autoComplete="off"
          data-autofocus
          {...form.field('webhook_secret')}
        />
      </DialogForm>
    </Dialog>
  )
}
