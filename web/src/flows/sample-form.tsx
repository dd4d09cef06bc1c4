import { Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import type { Variable } from '../api/types.ts'
import type { Sample } from './sample-data.ts'

type Props = { variables: Variable[]; missing: string[]; sample: Sample; setSample: (sample: Sample) => void }

/** One field for each variable of the template, so that the preview and the test mail have something to say. */
export function SampleForm({ variables, missing, sample, setSample }: Props) {
  return (
    <Paper withBorder p="md" component="section" aria-label="Sample data">
      <Title order={2}>Sample data</Title>
      <Text c="dimmed" size="xs" mb="sm">
        {variables.length === 0
          ? 'This template uses no variables of its own. Write {{ name }} to use one.'
          : 'What your program sends as context. Lists and objects as JSON, for example ["a", "b"].'}
      </Text>
      <Stack gap="xs">
        {variables.map((variable) => (
          <TextInput
            key={variable.name}
            label={variable.name}
            labelProps={{ ff: 'monospace' }}
            description={note(variable, missing)}
            value={sample[variable.name] ?? ''}
            onChange={(event) => setSample({ ...sample, [variable.name]: event.currentTarget.value })}
          />
        ))}
      </Stack>
    </Paper>
  )
}

function note(variable: Variable, missing: string[]): string | undefined {
  if (variable.has_default) return 'Has a default.'
  return missing.includes(variable.name) ? 'Needed: without it the mail is refused.' : undefined
}
