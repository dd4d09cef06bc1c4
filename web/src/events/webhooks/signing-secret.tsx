import { Button, Stack, Tabs, Text, Title } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import type { Webhook } from '../../api/types.ts'
import { GuideLink } from '../../ui/api-reference.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { DialogActions } from '../../ui/dialog-actions.tsx'
import { Notice } from '../../ui/notice.tsx'
import { verificationCode } from './verification-code.ts'
import { useRetryText } from './webhooks.api.ts'

type Props = {
  secret: string
  webhook: Pick<Webhook, 'acknowledge' | 'retry_4xx' | 'retry_schedule'>
  onDone: () => void
}

/** Shows the signing secret, which cannot be shown again later. */
export function SigningSecret({ secret, webhook, onDone }: Props) {
  const retries = useRetryText(webhook.retry_schedule)
  return (
    <Stack gap="md">
      <Notice tone="warn" icon={<IconKey size={18} aria-hidden />} title="Copy the signing secret now">
        You won’t be able to see it again. Store it where only your endpoint can read it.
      </Notice>
      <CodeBlock code={secret} label="signing secret" />
      <Stack gap={6}>
        <Title order={3}>Verify deliveries</Title>
        <Text c="dimmed">
          The X-Service-Signature header contains a timestamp and an HMAC of the timestamp and the raw body. Respond
          with {webhook.acknowledge === '2xx' ? 'any 2xx status' : '200'} to acknowledge a delivery.{' '}
          {webhook.retry_4xx.length > 0 ? `4xx responses except ${webhook.retry_4xx.join(', ')}` : '4xx responses'}{' '}
          aren’t retried; anything else is retried{retries && ` ${retries}`}.{' '}
          <GuideLink name="verifying-webhooks">Verifying webhooks</GuideLink> has test vectors and code for more
          languages.
        </Text>
        <VerificationCode />
      </Stack>
      <DialogActions>
        <Button onClick={onDone}>I’ve copied it</Button>
      </DialogActions>
    </Stack>
  )
}

function VerificationCode() {
  return (
    <Tabs defaultValue={verificationCode[0]?.language ?? null}>
      <Tabs.List>
        {verificationCode.map(({ language }) => (
          <Tabs.Tab key={language} value={language}>
            {language}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {verificationCode.map(({ language, code }) => (
        <Tabs.Panel key={language} value={language} pt="xs">
          <CodeBlock code={code} label={`${language} verification code`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
