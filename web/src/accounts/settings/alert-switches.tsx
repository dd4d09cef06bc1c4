import { Paper, Stack, Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { messageOf } from '../../api/api-error.ts'
import type { AlertKind, Me } from '../../api/types.ts'
import { ErrorLine } from '../../ui/states.tsx'
import { changeProfile, meQuery } from '../session/session.api.ts'

const switches: { kind: AlertKind; label: string; description: string; forMembers?: boolean }[] = [
  {
    kind: 'sending',
    label: 'Sending problems',
    description: 'The mail server was unreachable and emails were delayed.',
  },
  {
    kind: 'deliverability',
    label: 'High bounce or complaint rate',
    description: 'More than 5% of a day’s emails bounced, or more than 0.1% were reported as spam.',
  },
  { kind: 'webhooks', label: 'Failing webhooks', description: 'An endpoint fails, or was paused after 3 days.' },
  {
    kind: 'imports',
    label: 'Finished imports',
    description: 'An import that you started has finished or failed.',
    forMembers: true,
  },
]

/** Saved when they are switched. */
export function AlertSwitches({ me }: { me: Me }) {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (alerts: Partial<Me['alerts']>) => changeProfile({ alerts }),
    onSuccess: (saved) => queries.setQueryData(meQuery.queryKey, saved),
  })
  const shown = switches.filter(({ forMembers }) => forMembers || me.role === 'owner')
  return (
    <Paper withBorder p="md" maw={560}>
      <Stack gap="md">
        {shown.map(({ kind, label, description }) => (
          <Switch
            key={kind}
            label={label}
            description={description}
            checked={
              change.isPending && change.variables[kind] !== undefined ? change.variables[kind] : me.alerts[kind]
            }
            onChange={(event) => change.mutate({ [kind]: event.currentTarget.checked })}
          />
        ))}
        {change.isError && <ErrorLine>{messageOf(change.error)}</ErrorLine>}
      </Stack>
    </Paper>
  )
}
