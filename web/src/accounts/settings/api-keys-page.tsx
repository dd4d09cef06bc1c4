import { Box, Button, Checkbox, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { baseUrl } from '../../api/base.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { ApiKey, Scope } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ApiReferenceLink, GuideLink } from '../../ui/api-reference.tsx'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { CreatedBy } from '../../ui/created-by.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogActions } from '../../ui/dialog-actions.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { TableList } from '../../ui/list.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { useMay } from '../session/session.api.ts'
import { apiKeysQuery, createApiKey, revokeApiKey } from './settings.api.ts'
import { SmtpSettings } from './smtp-settings.tsx'

const scopes: { value: Scope; label: string; description: string }[] = [
  { value: 'flows:send', label: 'Send email', description: 'Send emails through flows and without one' },
  { value: 'messages:send', label: 'Send email without a flow', description: 'But not through flows' },
  { value: 'messages:read', label: 'Read messages', description: 'Sent emails and their events' },
  { value: 'contacts:write', label: 'Write contacts', description: 'Add, change, import and erase contacts' },
  { value: 'contacts:read', label: 'Read contacts', description: 'Contacts, groups and suppressions' },
  { value: 'broadcasts:write', label: 'Write broadcasts', description: 'Create, change, pause and cancel' },
  { value: 'broadcasts:send', label: 'Start broadcasts', description: 'Start, schedule and resume broadcasts' },
  { value: 'broadcasts:read', label: 'Read broadcasts', description: 'Broadcasts, recipients and results' },
  { value: 'flows:write', label: 'Write flows', description: 'Create, change and delete flows' },
  { value: 'flows:read', label: 'Read flows', description: 'Flows, versions and previews' },
  { value: 'webhooks:write', label: 'Write webhooks', description: 'Create, change, test and replay' },
  { value: 'webhooks:read', label: 'Read webhooks', description: 'Webhooks and their deliveries' },
  { value: 'metrics:read', label: 'Read metrics', description: 'Events and daily counts' },
]
/** The names by which a key that was created through the API may have these permissions. */
const otherNames: Partial<Record<Scope, Scope>> = { 'analytics:read': 'metrics:read' }
const labelOf = (scope: Scope) => scopes.find(({ value }) => value === (otherNames[scope] ?? scope))?.label ?? scope

/** What most apps need: the operations of the public API. */
const usualScopes: Scope[] = ['flows:send', 'contacts:write', 'metrics:read']

export function ApiKeysPage() {
  const apiKeys = useQuery(apiKeysQuery)
  const invalidate = useInvalidate()
  const [creating, setCreating] = useState(false)
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      Create key
    </Button>
  )
  return (
    <Section
      title="API keys"
      titleHidden
      description={
        <>
          Your app authenticates with an API key in the X-Api-Token header. See the{' '}
          <GuideLink name="quick-start">quick start</GuideLink> and the <ApiReferenceLink />.
        </>
      }
      actions={apiKeys.data && apiKeys.data.length > 0 && add}
    >
      <TableList
        label="API keys"
        query={apiKeys}
        columns={columns(() => invalidate(keys.apiKeys))}
        rowKey={({ id }) => id}
        empty={{
          title: 'No API keys yet',
          icon: IconKey,
          action: add,
          children: 'Create a key to send emails, add contacts and read metrics from your app.',
        }}
      />
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
      <SmtpSettings />
      <AssistantSection />
    </Section>
  )
}

/** How to connect a client of the Model Context Protocol. */
function AssistantSection() {
  return (
    <Box mt="xl">
      <Section
        title="Connect an assistant"
        description={
          <>
            Assistants that support MCP can work with your contacts, flows and broadcasts. Give them this address and an
            API key, sent as a bearer token. The permissions of the key limit what they can do, and a broadcast starts
            only after you have confirmed the number of recipients. See the <GuideLink name="mcp">guide</GuideLink>.
          </>
        }
      >
        <CodeBlock code={`${baseUrl}/mcp`} label="MCP address" />
      </Section>
    </Box>
  )
}

const columns = (refresh: () => Promise<unknown>): Column<ApiKey>[] => [
  {
    header: 'Name',
    phone: 'title',
    cell: (key) => (
      <>
        <Text fw={600}>{key.name}</Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {key.prefix}…
        </Text>
      </>
    ),
  },
  {
    header: 'Permissions',
    cell: (key) => (
      <>
        <Text size="xs">{[...new Set(key.scopes.map(labelOf))].join(', ')}</Text>
        {key.public_only && (
          <Text size="xs" c="dimmed">
            Public API only
          </Text>
        )}
        {key.unconfirmed && (
          <Text size="xs" c="dimmed">
            Imported: works when the operator has confirmed the import
          </Text>
        )}
      </>
    ),
  },
  { header: 'Last used', align: 'right', cell: (key) => <Time at={key.last_used_at} /> },
  { header: 'Created by', cell: (key) => <CreatedBy creator={key.created_by} /> },
  { header: 'Created', align: 'right', cell: (key) => <Time at={key.created_at} /> },
  {
    header: 'Actions',
    align: 'right',
    phone: 'bare',
    cell: (key) => (
      <Group gap="xs" justify="flex-end">
        <Button
          component={Link}
          to={`${paths.apiRequests}?key=${key.id}`}
          variant="default"
          size="compact-sm"
          aria-label={`Requests of ${key.name}`}
        >
          Requests
        </Button>
        <ConfirmButton
          size="compact-sm"
          aria-label={`Revoke ${key.name}`}
          confirm={{
            title: 'Revoke API key',
            action: 'Revoke key',
            children: (
              <>
                Apps that use <strong>{key.name}</strong> lose access within seconds. This can’t be undone.
              </>
            ),
            run: async () => {
              await revokeApiKey(key.id)
              await refresh()
            },
          }}
        >
          Revoke
        </ConfirmButton>
      </Group>
    ),
  },
]

function CreateDialog({ onClose }: { onClose: () => void }) {
  const invalidate = useInvalidate()
  const mayStart = useMay()('broadcasts:send')
  const form = useRequestForm({
    initialValues: { name: '', scopes: usualScopes },
    send: ({ name, scopes }) => createApiKey({ name: name.trim(), scopes }),
    onSuccess: () => invalidate(keys.apiKeys, keys.checklist),
  })
  if (form.result) return <NewKeyDialog apiKey={form.result.api_key} onClose={onClose} />
  return (
    <Dialog opened onClose={onClose} title="Create API key">
      <DialogForm form={form} action="Create key" disabled={form.values.scopes.length === 0} onCancel={onClose}>
        <TextInput
          label="Name"
          description="For example “Shop, production”"
          required
          data-autofocus
          maxLength={200}
          {...form.field('name')}
        />
        <Checkbox.Group
          label="Permissions"
          description="A key can’t manage the team, other keys or the organization"
          {...form.field('scopes')}
        >
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mt={6}>
            {scopes.map((scope) => (
              <Checkbox
                key={scope.value}
                {...scope}
                {...(scope.value === 'broadcasts:send' &&
                  !mayStart && { disabled: true, description: 'Only for people who may start broadcasts' })}
              />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
      </DialogForm>
    </Dialog>
  )
}

/** The server stores only a hash, so the key cannot be shown again. */
function NewKeyDialog({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  return (
    <Dialog
      opened
      onClose={onClose}
      size="lg"
      title="Your new API key"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack gap="md">
        <Notice tone="warn" icon={<IconKey size={18} aria-hidden />} title="Copy the key now">
          You won’t be able to see it again.
        </Notice>
        <CodeBlock code={apiKey} label="API key" />
        <Text c="dimmed">Test the key:</Text>
        <CodeBlock
          code={`curl ${baseUrl}/public/api/v1/token/check \\\n  -H 'X-Api-Token: ${apiKey}'`}
          label="curl command"
        />
        <DialogActions>
          <Button onClick={onClose}>I’ve copied it</Button>
        </DialogActions>
      </Stack>
    </Dialog>
  )
}
