import { Stack, Text, TextInput } from '@mantine/core'
import type { Variable } from '../api/types.ts'
import type { Sample } from '../content/flows/sample-data.ts'

type Props = {
  description: string
  variables: Variable[]
  values: Sample
  onChange: (name: string, text: string) => void
}

/** One field for each variable. */
export function ContextFields({ description, variables, values, onChange }: Props) {
  if (variables.length === 0) return null
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {description}
      </Text>
      {variables.map(({ name, has_default }) => (
        <TextInput
          key={name}
          label={name}
          labelProps={{ ff: 'monospace' }}
          description={has_default ? 'Optional: the template has a default.' : undefined}
          value={values[name] ?? ''}
          onChange={(event) => onChange(name, event.currentTarget.value)}
        />
      ))}
    </Stack>
  )
}
