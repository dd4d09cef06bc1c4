import { Button, Checkbox, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import type { Webhook, WebhookEventName, WebhookInput } from '../api/types.ts'
import { DialogActions } from '../ui/dialog-actions.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { EventChoice } from './event-choice.tsx'
import { eventTypesQuery, retrySchedulesQuery } from './webhooks.api.ts'

const shownPaths = ['name', 'url']
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
  const [name, setName] = useState(webhook?.name ?? '')
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [all, setAll] = useState(webhook?.all_events ?? false)
  const [chosen, setChosen] = useState<WebhookEventName[]>(webhook?.event_types ?? [])
  const [schedule, setSchedule] = useState<Webhook['retry_schedule']>(webhook?.retry_schedule ?? 'standard')
  const [acknowledge, setAcknowledge] = useState<Webhook['acknowledge']>(webhook?.acknowledge ?? '200')
  const [retried, setRetried] = useState<Webhook['retry_4xx']>(webhook?.retry_4xx ?? [])
  const [tried, setTried] = useState(false)
  const problems = problemsOf({ name, url, all, chosen })
  const saving = useMutation({
    mutationFn: () =>
      save({
        name: name.trim(),
        url: url.trim(),
        all_events: all,
        event_types: chosen,
        acknowledge,
        retry_4xx: retried,
        retry_schedule: schedule,
      }),
    onSuccess: onSaved,
  })

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (Object.values(problems).some(Boolean)) return
        saving.mutate()
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="Name"
          description="For example “Orders, production”"
          required
          data-autofocus
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={(tried && problems.name) || fieldProblem(saving.error, 'name')}
        />
        <TextInput
          label="URL"
          description="The public HTTPS URL of your endpoint. Events are posted to it as JSON."
          placeholder="https://example.com/webhooks/waxwing"
          type="url"
          inputMode="url"
          required
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          error={(tried && problems.url) || fieldProblem(saving.error, 'url')}
        />
        <Load query={eventTypes}>
          {(types) => (
            <EventChoice {...{ types, all, setAll, chosen, setChosen }} problem={tried ? problems.events : undefined} />
          )}
        </Load>
        <AcknowledgeChoice acknowledge={acknowledge} setAcknowledge={setAcknowledge} />
        <RetryChoice {...{ schedule, setSchedule, retried, setRetried }} />
        <ErrorLine>{formProblem(saving.error, shownPaths)}</ErrorLine>
        <DialogActions>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={saving.isPending}>
            {action}
          </Button>
        </DialogActions>
      </Stack>
    </form>
  )
}

/**
 * The problems that can be found without a request, so that all are shown together. The allowed hosts depend on the
 * configuration of the server.
 */
function problemsOf({
  name,
  url,
  all,
  chosen,
}: {
  name: string
  url: string
  all: boolean
  chosen: WebhookEventName[]
}) {
  return {
    name: name.trim() === '' ? 'Name is required.' : undefined,
    url: urlProblem(url.trim()),
    events: !all && chosen.length === 0 ? 'Select at least one event type.' : undefined,
  }
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'URL is required.'
  return URL.canParse(url) ? undefined : 'Enter a full URL, like https://example.com/webhooks.'
}

type AcknowledgeProps = {
  acknowledge: Webhook['acknowledge']
  setAcknowledge: (acknowledge: Webhook['acknowledge']) => void
}

function AcknowledgeChoice({ acknowledge, setAcknowledge }: AcknowledgeProps) {
  return (
    <Radio.Group
      label="Delivered when the endpoint responds"
      value={acknowledge}
      onChange={(value) => setAcknowledge(value as Webhook['acknowledge'])}
    >
      <Stack gap="xs" mt="xs">
        <Radio value="200" label="200" />
        <Radio value="2xx" label="Any 2xx (200 to 299)" />
      </Stack>
    </Radio.Group>
  )
}

type RetryProps = {
  schedule: Webhook['retry_schedule']
  setSchedule: (schedule: Webhook['retry_schedule']) => void
  retried: Webhook['retry_4xx']
  setRetried: (statuses: Webhook['retry_4xx']) => void
}

function RetryChoice({ schedule, setSchedule, retried, setRetried }: RetryProps) {
  const schedules = useQuery(retrySchedulesQuery)
  return (
    <>
      <Load query={schedules}>
        {(choices) => (
          <Radio.Group
            label="If a delivery fails"
            value={schedule}
            onChange={(value) => setSchedule(value as Webhook['retry_schedule'])}
          >
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
        value={retried.map(String)}
        onChange={(values) => setRetried(values.map(Number) as Webhook['retry_4xx'])}
      >
        <Stack gap="xs" mt="xs">
          {retryable4xx.map(({ status, name }) => (
            <Checkbox key={status} value={String(status)} label={`${status} ${name}`} />
          ))}
        </Stack>
      </Checkbox.Group>
    </>
  )
}
