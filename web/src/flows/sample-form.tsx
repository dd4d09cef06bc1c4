import { Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import type { Variable } from '../api/types.ts'
import { isOfContext, type Sample } from './sample-data.ts'

type Props = { variables: Variable[]; missing: string[]; sample: Sample; setSample: (sample: Sample) => void }

/** One field for each variable that a program sends, so that the preview and the test mail have something to say. */
export function SampleForm({ variables, missing, sample, setSample }: Props) {
  const sent = variables.filter(isOfContext)
  const known = variables.filter((variable) => !isOfContext(variable))
  const lacking = known.filter(({ name }) => missing.includes(name))
  return (
    <Paper withBorder p="md" component="section" aria-label="Sample data">
      <Title order={2}>Sample data</Title>
      <Text c="dimmed" size="xs" mb="sm">
        {sent.length === 0
          ? 'This template uses no variables of its own. Write {{ name }} to use one.'
          : 'What your program sends as context. Lists and objects as JSON, for example ["a", "b"].'}
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
          Known from the contact and your organization: {namesOf(known)}.
        </Text>
      )}
      {lacking.length > 0 && (
        <Text c="var(--warn-text)" size="xs" mt="xs">
          A send to a contact without {namesOf(lacking)} is refused, unless the template has a default.
        </Text>
      )}
    </Paper>
  )
}

const namesOf = (variables: Variable[]) => variables.map(({ name }) => name).join(', ')

function note(variable: Variable, missing: string[]): string | undefined {
  if (variable.has_default) return 'Has a default.'
  return missing.includes(variable.name) ? 'Needed: without it the mail is refused.' : undefined
}
