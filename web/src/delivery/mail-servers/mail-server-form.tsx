import { Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { MailServer, MailServerConnection, MailServerInput, MailServerPreset } from '../../api/types.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import {
  connectionOf,
  initialValues,
  otherServer,
  problemsOf,
  requestOf,
  type Values,
  valuesOf,
} from './form-values.ts'
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
  const test = useMutation({
    mutationFn: async (settings: MailServerConnection) => ({ settings, result: await testConnection(settings) }),
  })
  const presetOf = (values: Values) => presets.find(({ id }) => id === values.preset)
  const form = useRequestForm({
    initialValues: initialValues(server),
    validate: (values) => problemsOf(values, server, presetOf(values)),
    send: async (values) => save({ ...requestOf(values), ...(!server && (await proofOf(connectionOf(values)))) }),
    onSuccess: onSaved,
  })
  const { values } = form
  const preset = presetOf(values)
  /** The last result, unless the settings were changed since. */
  const resultOf = (settings: MailServerConnection) =>
    test.data && isSame(test.data.settings, settings) ? test.data.result : undefined
  const isAccepted = useRef(false)
  /** The form shows the problems of its request. */
  const testFirst = (settings: MailServerConnection) =>
    test.mutateAsync(settings).catch((error: unknown) => {
      test.reset()
      throw error
    })
  /** A new mail server carries email at once, so it is tested first. */
  const proofOf = async (settings: MailServerConnection) => {
    if (isAccepted.current) return {}
    const last = resultOf(settings)
    const { ok, test_token: token } = last?.ok ? last : (await testFirst(settings)).result
    if (!ok) throw new Error('The mail server was not added, because the connection doesn’t work.')
    return token === null ? {} : { test_token: token }
  }
  const choose = (id: string | null) => {
    const names = presets.map(({ name }) => name)
    form.set(
      valuesOf(
        presets.find((each) => each.id === id),
        values,
        names,
      ),
    )
  }
  const result = resultOf(connectionOf(values))
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
          <Unsupported values={values} preset={preset} />
          <LimitFields form={form} />
          {!server && (
            <Group>
              <Button
                variant="default"
                loading={test.isPending}
                disabled={form.sending}
                onClick={() => test.mutate(connectionOf(values))}
              >
                Test connection
              </Button>
            </Group>
          )}
          {test.isError && <ErrorLine>{messageOf(test.error)}</ErrorLine>}
          {result && <TestSteps result={result} />}
          {!server && result?.ok === false && (
            <Group>
              <ConfirmButton
                confirm={{
                  title: 'Add a mail server that doesn’t work?',
                  children:
                    'Emails are tried with it at once. While it fails, your other mail servers carry them; without another one, they wait.',
                  action: 'Add it anyway',
                  run: async () => {
                    isAccepted.current = true
                    await form.save().finally(() => {
                      isAccepted.current = false
                    })
                  },
                }}
              >
                Add without a working test
              </ConfirmButton>
            </Group>
          )}
        </>
      )}
    </DialogForm>
  )
}

const isSame = (one: MailServerConnection, other: MailServerConnection) => JSON.stringify(one) === JSON.stringify(other)

/** Some providers accept only one kind of email at each of their hosts. */
function Unsupported({ values, preset }: { values: Values; preset: MailServerPreset | undefined }) {
  const host = preset?.hosts.find((each) => each.host === values.host)
  const refused = values.kinds.filter((kind) => host && !host.kinds.some((accepted) => accepted === kind))
  if (!host || refused.length === 0) return null
  return (
    <Notice tone="warn">
      {preset?.name} does not accept {refused.join(' or ')} email at “{host.label}”.
    </Notice>
  )
}
