import { ActionIcon, Button, Group, Input, NativeSelect, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import classes from './attribute-fields.module.css'
import {
  type AttributeRow,
  type AttributeType,
  attributeTypes,
  newRow,
  problemOf,
  typeLabels,
  withType,
} from './attributes.ts'

const typeOptions = attributeTypes.map((value) => ({ value, label: typeLabels[value] }))
const yesNo = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]

const placeholders: Partial<Record<AttributeType, string>> = { date: 'YYYY-MM-DD', list: 'tea, coffee' }

type Props = {
  value: AttributeRow[]
  onChange: (rows: AttributeRow[]) => void
  /** Of the whole: shown below the rows, together with the problems of each row. */
  error?: React.ReactNode
}

/** The attributes of a contact as a table of names, types and values. */
export function AttributeFields({ value: rows, onChange, error }: Props) {
  const change = (row: AttributeRow) => onChange(rows.map((other) => (other.id === row.id ? row : other)))
  return (
    <Stack gap={6} component="fieldset" className={classes.fields ?? ''}>
      <Text component="legend" size="sm" fw={500}>
        Attributes
      </Text>
      <Text size="xs" c="dimmed">
        Use attributes in templates, for example {'{{ contact.attributes.plan }}'}.
      </Text>
      {rows.map((row, index) => (
        <div key={row.id} className={classes.row}>
          <TextInput
            aria-label={`Name of attribute ${index + 1}`}
            placeholder="Name"
            maxLength={200}
            value={row.name}
            onChange={(event) => change({ ...row, name: event.currentTarget.value })}
          />
          <Select
            aria-label={`Type of attribute ${index + 1}`}
            data={typeOptions}
            allowDeselect={false}
            value={row.type}
            onChange={(type) => type && change(withType(row, type as AttributeType))}
          />
          <div className={classes.value}>
            <ValueInput row={row} label={`Value of attribute ${index + 1}`} change={change} />
          </div>
          <ActionIcon
            className={classes.remove ?? ''}
            size={36}
            variant="subtle"
            color="gray"
            aria-label={`Remove attribute ${index + 1}`}
            onClick={() => onChange(rows.filter((other) => other.id !== row.id))}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
          {error && problemOf(row, rows) && (
            <Input.Error className={classes.problem ?? ''}>{problemOf(row, rows)}</Input.Error>
          )}
        </div>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...rows, newRow()])}
        >
          Add attribute
        </Button>
      </Group>
      {error && <Input.Error>{error}</Input.Error>}
    </Stack>
  )
}

type ValueProps = { row: AttributeRow; label: string; change: (row: AttributeRow) => void }

function ValueInput({ row, label, change }: ValueProps) {
  const set = (text: string) => change({ ...row, text })
  switch (row.type) {
    case 'boolean':
      return (
        <NativeSelect
          aria-label={label}
          data={yesNo}
          value={row.text}
          onChange={(event) => set(event.currentTarget.value)}
        />
      )
    case 'json':
      return (
        <Textarea
          aria-label={label}
          autosize
          minRows={1}
          maxRows={10}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          value={row.text}
          onChange={(event) => set(event.currentTarget.value)}
        />
      )
    default:
      return (
        <TextInput
          aria-label={label}
          placeholder={placeholders[row.type] ?? 'Value'}
          inputMode={row.type === 'number' ? 'decimal' : 'text'}
          value={row.text}
          onChange={(event) => set(event.currentTarget.value)}
        />
      )
  }
}
