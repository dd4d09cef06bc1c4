import { Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import type { Variable } from '../../api/types.ts'
import { isContextVariable, type Sample } from './sample-data.ts'

type Props = {
  variables: Variable[]
  loading: boolean
  missing: string[]
  sample: Sample
  setSample: (sample: Sample) => void
}

/** One field for each variable that the app sends, used by the preview and the test email. */
export function SampleForm({ variables, loading, missing, sample, setSample }: Props) {
  const sent = variables.filter(isContextVariable)
  const known = variables.filter((variable) => !isContextVariable(variable))
  const missingKnown = known.filter(({ name }) => missing.includes(name))
  return (
    <Paper withBorder p="md" component="section" aria-label="Variables">
      <Title order={2}>Variables</Title>
      <Text c="dimmed" size="xs" mb="sm">
        {sent.length > 0
          ? 'Sample values for the preview and test emails. Your app sends the real ones in context. Enter lists and objects as JSON, for example ["a", "b"].'
          : loading
            ? 'Loading variables…'
            : 'This template has no custom variables. Write {{ name }} to add one.'}
      </Text>
      <Stack gap="xs">
        {sent.map((variable) => (
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
      {known.length > 0 && (
        <Text c="dimmed" size="xs" mt="sm">
          Filled in automatically: {namesOf(known)}.
        </Text>
      )}
      {missingKnown.length > 0 && (
        <Text c="var(--warn-text)" size="xs" mt="xs">
          Sends to contacts without {namesOf(missingKnown)} are rejected. Add a default to the template to allow them.
        </Text>
      )}
    </Paper>
  )
}

const namesOf = (variables: Variable[]) => variables.map(({ name }) => name).join(', ')

function note(variable: Variable, missing: string[]): string | undefined {
  if (variable.has_default) return 'Optional: an empty value uses the default, and an empty list shows nothing.'
  return missing.includes(variable.name) ? 'Required. Sends without it are rejected.' : undefined
}
