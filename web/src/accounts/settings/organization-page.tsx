import { Button, Group, Paper, PasswordInput, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Organization } from '../../api/types.ts'
import { useSignOut } from '../../shell/sign-out.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { useRequestForm } from '../../ui/form.tsx'
import { pluralize } from '../../ui/numbers.ts'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { TimeZoneSelect } from '../../ui/time-zone-select.tsx'
import { toast } from '../../ui/toast.tsx'
import { useMay } from '../session/session.api.ts'
import { changeOrganization, deleteOrganization, organizationQuery } from './settings.api.ts'

export function OrganizationPage() {
  const organization = useQuery(organizationQuery)
  const may = useMay()
  return (
    <>
      <Section title="Organization" titleHidden>
        <Load query={organization}>
          {(data) => (
            <>
              <Facts
                facts={[
                  ['Organization ID', <Copyable key="id" value={data.id} label="Copy organization ID" />],
                  ['Created', <Time key="created" at={data.created_at} />],
                  ['Event retention', retentionOf(data.event_retention_months)],
                ]}
              />
              <OrganizationForm key={data.id} organization={data} />
            </>
          )}
        </Load>
      </Section>
      {may('organization:delete') && organization.data && <DeleteOrganization name={organization.data.name} />}
    </>
  )
}

const retentionOf = (months: number | null) =>
  months === null ? 'Kept indefinitely' : `Deleted after ${pluralize(months, 'month', 'months')}`

function DeleteOrganization({ name }: { name: string }) {
  const signOut = useSignOut()
  const [opened, setOpened] = useState(false)
  const [password, setPassword] = useState('')
  const close = () => {
    setOpened(false)
    setPassword('')
  }
  return (
    <Section
      title="Delete organization"
      description="Stops sending and tracking, revokes all API keys, and erases all contacts, flows, messages and events."
    >
      <Group>
        <Button color="red" variant="outline" onClick={() => setOpened(true)}>
          Delete organization
        </Button>
      </Group>
      <Confirm
        opened={opened}
        onClose={close}
        title="Delete organization"
        action="Delete organization"
        typed={name}
        run={async () => {
          await deleteOrganization({ name, password })
          signOut()
        }}
      >
        <Stack gap="sm">
          <Text>
            All members of <strong>{name}</strong> will be signed out, queued emails will be discarded, and links in
            emails that were already sent will stop working. This can’t be undone.
          </Text>
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        </Stack>
      </Confirm>
    </Section>
  )
}

function OrganizationForm({ organization }: { organization: Organization }) {
  const mayChange = useMay()('organization:write')
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const { name, timezone, keep_addresses } = organization
  const form = useRequestForm({
    initialValues: { name, timezone, keep_addresses },
    send: (values) => changeOrganization({ ...values, name: values.name.trim() }),
    onSuccess: async (saved) => {
      queries.setQueryData(organizationQuery.queryKey, saved)
      await invalidate(keys.me)
      toast('Organization saved.')
    },
  })
  return (
    <Paper withBorder p="md" maw={560}>
      <form onSubmit={form.submit}>
        <Stack gap="md">
          {!mayChange && <Text c="dimmed">Only owners can change these settings.</Text>}
          <TextInput
            label="Name"
            description="Shown to recipients on the unsubscribe page."
            required
            maxLength={200}
            disabled={!mayChange}
            {...form.field('name')}
          />
          <TimeZoneSelect
            label="Time zone"
            description="For statistics by day, and preselected for the time of broadcasts."
            disabled={!mayChange}
            {...form.field('timezone')}
          />
          <Switch
            label="Store the recipient’s IP address with opens and clicks"
            description="Off by default: IP addresses are personal data."
            disabled={!mayChange}
            {...form.field('keep_addresses', { type: 'checkbox' })}
          />
          <ErrorLine>{form.problem}</ErrorLine>
          {mayChange && (
            <Group>
              <Button type="submit" loading={form.sending}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Paper>
  )
}
