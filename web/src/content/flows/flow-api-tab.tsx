import { Anchor, Stack, Tabs, Text } from '@mantine/core'
import { Link } from 'react-router'
import { baseUrl } from '../../api/base.ts'
import type { Flow } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { CodeBlock, Copyable } from '../../ui/copy.tsx'
import { Section } from '../../ui/section.tsx'
import type { Context } from './sample-data.ts'

/** API calls for this flow, filled with the editor's sample data. */
export function FlowApiTab({ flow, context }: { flow: Flow; context: Context }) {
  const body = { flow_id: flow.id, contact_email: 'ada@example.com', context }
  return (
    <Section
      title="Send with the API"
      description={
        <>
          Replace YOUR_API_KEY with one of your{' '}
          <Anchor component={Link} to={paths.apiKeys} underline="always">
            API keys
          </Anchor>
          . Requests with the same idempotency key send only once, so you can retry safely.
        </>
      }
    >
      <Stack gap="md">
        <Text component="div">
          Flow ID: <Copyable value={flow.id} label="Copy flow ID" />
        </Text>
        <Tabs defaultValue="curl">
          <Tabs.List>
            <Tabs.Tab value="curl">curl</Tabs.Tab>
            <Tabs.Tab value="sdk">TypeScript SDK</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="curl" pt="xs">
            <CodeBlock code={curlCall(body)} label="curl call" />
          </Tabs.Panel>
          <Tabs.Panel value="sdk" pt="xs">
            <CodeBlock code={sdkCall(body)} label="SDK call" />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </Section>
  )
}

type Body = { flow_id: string; contact_email: string; context: Context }

function curlCall(body: Body): string {
  // Within single quotes, a shell requires only the quote itself to be escaped.
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)
  return `curl -X POST ${baseUrl}/public/api/v1/flow/send-email-through-flow \\
  -H 'X-Api-Token: YOUR_API_KEY' \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: order-1001-confirmation' \\
  -d '${json}'
`
}

function sdkCall(body: Body): string {
  const context = JSON.stringify(body.context, null, 2).replaceAll('\n', '\n    ')
  return `import { Waxwing } from '@waxwing/sdk'

const waxwing = new Waxwing({ baseUrl: '${baseUrl}', apiKey: process.env.WAXWING_API_KEY! })

const accepted = await waxwing.sendEmailThroughFlow(
  {
    flowId: '${body.flow_id}',
    contactEmail: '${body.contact_email}',
    context: ${context},
  },
  { idempotencyKey: 'order-1001-confirmation' },
)

console.log(accepted.messageId, accepted.status)
`
}
