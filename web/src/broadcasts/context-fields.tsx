import { Stack, Text, TextInput } from '@mantine/core'
import type { Variable } from '../api/types.ts'
import { isContextVariable, type Sample } from '../flows/sample-data.ts'

type Props = { variables: Variable[]; values: Sample; onChange: (values: Sample) => void }

/** One field for each variable of the flow that contacts do not provide. */
export function ContextFields({ variables, values, onChange }: Props) {
  const shown = variables.filter(isContextVariable)
  if (shown.length === 0) return null
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        Values for everybody. Leave a field empty if each contact has an attribute of that name.
      </Text>
      {shown.map((variable) => (
        <TextInput
          key={variable.name}
          label={variable.name}
          labelProps={{ ff: 'monospace' }}
          description={variable.has_default ? 'Optional: the template has a default.' : undefined}
          value={values[variable.name] ?? ''}
          onChange={(event) => onChange({ ...values, [variable.name]: event.currentTarget.value })}
        />
      ))}
    </Stack>
  )
}
