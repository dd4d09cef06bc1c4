import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import type { MailServer, MailServerInput, MailServerPreset } from '../api/types.ts'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { connectionOf, initialValues, otherServer, problemsOf, requestOf, valuesOf } from './form-values.ts'
import { HostFields } from './host-fields.tsx'
import { LimitFields } from './limit-fields.tsx'
import { presetsQuery, testConnection } from './mail-servers.api.ts'
import { SignInFields } from './sign-in-fields.tsx'
import { TestSteps } from './test-steps.tsx'

type Props = {
  server?: MailServer
  action: string
  save: (input: MailServerInput) => Promise<MailServer>
  onSaved: (server: MailServer) => unknown
  onCancel: () => void
}

/** For a new mail server and for one that is edited. The provider is chosen first, because it fills in the rest. */
export function MailServerForm(props: Props) {
  const presets = useQuery(presetsQuery)
  return <Load query={presets}>{(known) => <Form {...props} presets={known} />}</Load>
}

function Form({ server, action, save, onSaved, onCancel, presets }: Props & { presets: MailServerPreset[] }) {
  const form = useRequestForm({
    initialValues: initialValues(server),
    validate: (values) => problemsOf(values, server),
    send: (values) => save(requestOf(values)),
    onSuccess: onSaved,
  })
  const { values } = form
  const test = useMutation({ mutationFn: () => testConnection(connectionOf(values)) })
  const preset = presets.find(({ id }) => id === values.preset)
  const choose = (id: string | null) => {
    const names = presets.map(({ name }) => name)
    form.set(
      valuesOf(
        presets.find((each) => each.id === id),
        values,
        names,
      ),
    )
    test.reset()
  }
  return (
    <DialogForm form={form} action={action} onCancel={onCancel}>
      <Select
        label="Provider"
        placeholder="Choose your provider"
        required
        searchable
        allowDeselect={false}
        data-autofocus={!server || undefined}
        data={[
          ...presets.map(({ id, name }) => ({ value: id, label: name })),
          { value: otherServer, label: 'Another mail server' },
        ]}
        {...form.field('preset')}
        onChange={choose}
      />
      {values.preset !== '' && (
        <>
          {preset && (
            <Text size="sm" c="dimmed">
              {preset.note}
            </Text>
          )}
          <TextInput label="Name" required maxLength={200} {...form.field('name')} />
          <HostFields form={form} preset={preset} />
          <SignInFields form={form} preset={preset} server={server} />
          <Checkbox.Group label="Carries" {...form.field('kinds')}>
            <Stack gap="xs" mt="xs">
              <Checkbox value="transactional" label="Transactional email" />
              <Checkbox value="marketing" label="Marketing email" />
            </Stack>
          </Checkbox.Group>
          <LimitFields form={form} />
          {!server && (
            <Group>
              <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                Test connection
              </Button>
            </Group>
          )}
          {test.isError && <ErrorLine>{messageOf(test.error)}</ErrorLine>}
          {test.data && <TestSteps result={test.data} />}
        </>
      )}
    </DialogForm>
  )
}
