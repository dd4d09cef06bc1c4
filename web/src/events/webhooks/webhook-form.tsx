import { Checkbox, Radio, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Webhook, WebhookInput } from '../../api/types.ts'
import { DialogForm, useRequestForm } from '../../ui/form.tsx'
import { Load } from '../../ui/states.tsx'
import { EventChoice } from './event-choice.tsx'
import { eventTypesQuery, retrySchedulesQuery } from './webhooks.api.ts'

const retryable4xx: { status: Webhook['retry_4xx'][number]; name: string }[] = [
  { status: 408, name: 'Request Timeout' },
  { status: 425, name: 'Too Early' },
  { status: 429, name: 'Too Many Requests' },
]

type Props<Result> = {
  webhook?: Webhook
  action: string
  save: (input: WebhookInput) => Promise<Result>
  onSaved: (result: Result) => void
  onCancel: () => void
}

/** Name, URL, events, responses and retries, for a new webhook and for one that is edited. */
export function WebhookForm<Result>({ webhook, action, save, onSaved, onCancel }: Props<Result>) {
  const eventTypes = useQuery(eventTypesQuery)
  const schedules = useQuery(retrySchedulesQuery)
  const form = useRequestForm({
    initialValues: {
      name: webhook?.name ?? '',
      url: webhook?.url ?? '',
      all_events: webhook?.all_events ?? false,
      event_types: webhook?.event_types ?? [],
      acknowledge: webhook?.acknowledge ?? '200',
      retry_4xx: webhook?.retry_4xx.map(String) ?? [],
      retry_schedule: webhook?.retry_schedule ?? 'standard',
    },
    // Found without a request, so that all are shown together. The allowed hosts depend on the configuration of the server.
    validate: ({ name, url, all_events, event_types }) => ({
      name: name.trim() === '' ? 'Name is required.' : undefined,
      url: urlProblem(url.trim()),
      event_types: !all_events && event_types.length === 0 ? 'Select at least one event type.' : undefined,
    }),
    send: (values) =>
      save({
        ...values,
        name: values.name.trim(),
        url: values.url.trim(),
        retry_4xx: retryable4xx
          .map(({ status }) => status)
          .filter((status) => values.retry_4xx.includes(String(status))),
      }),
    onSuccess: onSaved,
  })
  const { all_events: all, event_types: chosen } = form.values
  return (
    <DialogForm form={form} action={action} onCancel={onCancel}>
      <TextInput
        label="Name"
        description="For example “Orders, production”"
        required
        data-autofocus
        maxLength={200}
        {...form.field('name')}
      />
      <TextInput
        label="URL"
        description="The public HTTPS URL of your endpoint. Events are posted to it as JSON."
        placeholder="https://example.com/webhooks/waxwing"
        type="url"
        inputMode="url"
        required
        {...form.field('url')}
      />
      <Load query={eventTypes}>
        {(types) => (
          <EventChoice
            {...{ types, all, chosen }}
            setAll={(all_events) => form.set({ all_events })}
            setChosen={(event_types) => form.set({ event_types })}
            problem={form.field('event_types').error}
          />
        )}
      </Load>
      <Radio.Group label="Delivered when the endpoint responds" {...form.field('acknowledge')}>
        <Stack gap="xs" mt="xs">
          <Radio value="200" label="200" />
          <Radio value="2xx" label="Any 2xx (200 to 299)" />
        </Stack>
      </Radio.Group>
      <Load query={schedules}>
        {(choices) => (
          <Radio.Group label="If a delivery fails" {...form.field('retry_schedule')}>
            <Stack gap="xs" mt="xs">
              {choices.map(({ name, in_words: words }) => (
                <Radio key={name} value={name} label={`Retry ${words}`} />
              ))}
            </Stack>
          </Radio.Group>
        )}
      </Load>
      <Checkbox.Group
        label="Retry these 4xx responses"
        description="Other 4xx responses aren’t retried."
        {...form.field('retry_4xx')}
      >
        <Stack gap="xs" mt="xs">
          {retryable4xx.map(({ status, name }) => (
            <Checkbox key={status} value={String(status)} label={`${status} ${name}`} />
          ))}
        </Stack>
      </Checkbox.Group>
    </DialogForm>
  )
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'URL is required.'
  return URL.canParse(url) ? undefined : 'Enter a full URL, like https://example.com/webhooks.'
}
