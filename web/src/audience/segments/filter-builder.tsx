import { ActionIcon, Button, Group, Select, Text } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { ConditionFields } from './condition-fields.tsx'
import classes from './filter-builder.module.css'
import { type DraftGroup, type DraftPart, newCondition, newGroup } from './filter-draft.ts'

/** As in the API: deeper filters are rejected. */
const depthMax = 4

type Props = { draft: DraftGroup; onChange: (draft: DraftGroup) => void }

/** Edits a filter: conditions, joined by all or any, and nested conditions. */
export function FilterBuilder({ draft, onChange }: Props) {
  return <GroupFields group={draft} onChange={onChange} depth={1} label="Conditions" />
}

type GroupProps = {
  group: DraftGroup
  onChange: (group: DraftGroup) => void
  onRemove?: () => void
  depth: number
  label: string
}

function GroupFields({ group, onChange, onRemove, depth, label }: GroupProps) {
  const { match, parts } = group
  const set = (next: DraftPart[]) => onChange({ ...group, parts: next })
  const replace = (part: DraftPart) => set(parts.map((each) => (each.key === part.key ? part : each)))
  const remove = (part: DraftPart) => set(parts.filter((each) => each !== part))
  return (
    <fieldset className={`${classes.group} ${depth > 1 ? classes.nested : ''}`} aria-label={label}>
      <Group gap="xs" wrap="nowrap">
        <Text size="sm">Match</Text>
        <Select
          aria-label={`Match in ${label.toLowerCase()}`}
          size="xs"
          w={80}
          allowDeselect={false}
          data={['all', 'any']}
          value={match}
          onChange={(value) => onChange({ ...group, match: value as 'all' | 'any' })}
        />
        <Text size="sm">of these conditions</Text>
        {onRemove && (
          <ActionIcon aria-label={`Remove ${label.toLowerCase()}`} onClick={onRemove}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      {parts.map((part, index) =>
        part.kind === 'group' ? (
          <GroupFields
            key={part.key}
            group={part}
            onChange={replace}
            onRemove={() => remove(part)}
            depth={depth + 1}
            label={`Nested conditions ${index + 1}`}
          />
        ) : (
          <ConditionFields
            key={part.key}
            condition={part}
            label={`Condition ${index + 1}`}
            onChange={replace}
            onRemove={parts.length > 1 || onRemove ? () => (parts.length > 1 ? remove(part) : onRemove?.()) : undefined}
          />
        ),
      )}
      <Group gap="xs">
        <AddButton onClick={() => set([...parts, newCondition()])}>Add condition</AddButton>
        {depth < depthMax && (
          <AddButton onClick={() => set([...parts, newGroup(match === 'all' ? 'any' : 'all')])}>
            Add nested conditions
          </AddButton>
        )}
      </Group>
    </fieldset>
  )
}

function AddButton({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <Button size="xs" variant="default" leftSection={<IconPlus size={14} aria-hidden />} onClick={onClick}>
      {children}
    </Button>
  )
}
