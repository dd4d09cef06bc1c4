import { PasswordInput, Radio, Stack, TextInput } from '@mantine/core'
import type { EventExport, EventExportInput } from '../../api/types.ts'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'

type Props = {
  record?: EventExport
  action: string
  save: (input: EventExportInput) => Promise<EventExport>
  onSaved: (record: EventExport) => void
  onCancel: () => void
}

const required = (label: string, value: string) => (value.trim() === '' ? `${label} is required.` : undefined)

/** Where the events are uploaded to, for a new export and for one that is edited. */
export function EventExportForm({ record, action, save, onSaved, onCancel }: Props) {
  const form = useRequestForm({
    initialValues: {
      name: record?.name ?? '',
      endpoint: record?.endpoint ?? '',
      region: record?.region ?? '',
      bucket: record?.bucket ?? '',
      prefix: record?.prefix ?? '',
      access_key_id: record?.access_key_id ?? '',
      secret_access_key: '',
      start: 'oldest' as 'oldest' | 'now',
    },
    validate: (values) => ({
      name: required('Name', values.name),
      endpoint: required('Endpoint', values.endpoint),
      region: required('Region', values.region),
      bucket: required('Bucket', values.bucket),
      access_key_id: required('Access key ID', values.access_key_id),
      secret_access_key: record ? undefined : required('Secret access key', values.secret_access_key),
    }),
    send: ({ start, secret_access_key: secret, ...values }) =>
      save({
        ...(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()])) as typeof values),
        // Of an export that is edited, an empty secret stays as it is.
        ...((!record || secret !== '') && { secret_access_key: secret.trim() }),
        ...(!record && { start }),
      } as EventExportInput),
    onSuccess: onSaved,
  })
  return (
    <DialogForm form={form} action={action} onCancel={onCancel}>
      <TextInput label="Name" required data-autofocus maxLength={200} {...form.field('name')} />
      <TextInput
        label="Endpoint"
        description="The address of the storage, without the bucket"
        placeholder="https://s3.eu-central-1.amazonaws.com"
        type="url"
        inputMode="url"
        required
        {...form.field('endpoint')}
      />
      <TextInput
        label="Region"
        description="If your storage has no regions, us-east-1 or auto usually works"
        placeholder="eu-central-1"
        required
        {...form.field('region')}
      />
      <TextInput label="Bucket" required {...form.field('bucket')} />
      <TextInput label="Folder" description="Optional" placeholder="waxwing/events" {...form.field('prefix')} />
      <TextInput
        label="Access key ID"
        description="Needs permission to put objects into the bucket"
        required
        autoComplete="off"
        {...form.field('access_key_id')}
      />
      <PasswordInput
        label="Secret access key"
        description={record ? 'Leave empty to keep the current one' : 'Stored encrypted, and never shown again'}
        required={!record}
        autoComplete="off"
        {...form.field('secret_access_key')}
      />
      {!record && (
        <Radio.Group label="Start with" {...form.field('start')}>
          <Stack gap="xs" mt="xs">
            <Radio value="oldest" label="All past events" />
            <Radio value="now" label="New events only" />
          </Stack>
        </Radio.Group>
      )}
    </DialogForm>
  )
}
