import { Checkbox, Group, Input, Paper, Stack, Switch, Text } from '@mantine/core'
import type { EventType, WebhookEventName } from '../../api/types.ts'

type Props = {
  types: EventType[]
  all: boolean
  setAll: (all: boolean) => void
  chosen: WebhookEventName[]
  setChosen: (chosen: WebhookEventName[]) => void
  problem: string | undefined
}

/** One switch for all email events, also future ones. Events of contacts and broadcasts are chosen beside it. */
export function EventChoice({ types, all, setAll, chosen, setChosen, problem }: Props) {
  const email = types.filter((type) => type.in_all_events)
  const other = types.filter((type) => !type.in_all_events)
  return (
    <Stack gap="xs">
      <Switch
        label="All email events"
        description="Sends, opens, clicks, bounces, complaints and unsubscribes, including event types added later."
        checked={all}
        onChange={(event) => setAll(event.currentTarget.checked)}
      />
      <Paper withBorder p="sm">
        <Stack gap="md">
          <EventSection title="Email" types={email} chosen={chosen} setChosen={setChosen} all={all} />
          <EventSection
            title="Contacts"
            types={other.filter(({ event_name: name }) => name.startsWith('contact'))}
            chosen={chosen}
            setChosen={setChosen}
          />
          <EventSection
            title="Broadcasts"
            types={other.filter(({ event_name: name }) => name.startsWith('broadcast'))}
            chosen={chosen}
            setChosen={setChosen}
          />
          <EventSection
            title="Domains"
            types={other.filter(({ event_name: name }) => name.startsWith('domain'))}
            chosen={chosen}
            setChosen={setChosen}
          />
        </Stack>
      </Paper>
      {problem && <Input.Error role="alert">{problem}</Input.Error>}
    </Stack>
  )
}

/** `all` is the state of the switch, which replaces “Select all”. */
type SectionProps = Pick<Props, 'types' | 'chosen' | 'setChosen'> & { title: string; all?: boolean }

function EventSection({ title, types, chosen, setChosen, all }: SectionProps) {
  const names = types.map((type) => type.event_name)
  const selected = all ? names : names.filter((name) => chosen.includes(name))
  const set = (next: WebhookEventName[]) => setChosen([...chosen.filter((name) => !names.includes(name)), ...next])
  const isFull = selected.length === names.length
  return (
    <Stack gap="xs" component="fieldset" m={0} p={0} bd={0} miw={0} aria-label={`${title} events`}>
      <Group justify="space-between" gap="sm">
        <Text fw={600} size="sm">
          {title}
        </Text>
        {all === undefined && (
          <Checkbox
            size="xs"
            label="Select all"
            aria-label={`Select all ${title.toLowerCase()} events`}
            labelPosition="left"
            checked={isFull}
            indeterminate={selected.length > 0 && !isFull}
            onChange={() => set(isFull ? [] : names)}
          />
        )}
      </Group>
      <Checkbox.Group value={selected} onChange={(values) => set(values as WebhookEventName[])}>
        <Stack gap="xs">
          {types.map((type) => (
            <Checkbox
              key={type.event_name}
              value={type.event_name}
              disabled={all ?? false}
              label={<Text ff="monospace">{type.event_name}</Text>}
              description={type.description}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </Stack>
  )
}
