import { Box, Button, Group, Paper, Stack, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { fieldProblem, formProblem } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail, Flow, Variable } from '../api/types.ts'
import { flowQuery } from '../flows/flows.api.ts'
import { sampleOf } from '../flows/sample-data.ts'
import { UnsavedGuard } from '../flows/unsaved-guard.tsx'
import { paths } from '../paths.ts'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { AudienceFields } from './audience-fields.tsx'
import { broadcastQuery, changeBroadcast } from './broadcasts.api.ts'
import { CheckPanel } from './check-panel.tsx'
import { ContextFields } from './context-fields.tsx'
import { changesOf, type Draft, draftOf, isSame } from './draft.ts'
import classes from './draft-view.module.css'
import { FlowFields } from './flow-fields.tsx'
import { ScheduleFields } from './schedule-fields.tsx'
import { useVariables } from './use-variables.ts'
import { VariantFields } from './variant-fields.tsx'

/** The problems of these fields are shown at their inputs. */
const shownPaths = [
  'name',
  'flow_id',
  'audience',
  'messages_per_hour',
  'missed_after_seconds',
  'schedule.at',
  'schedule.time_zone',
  'schedule.time_zone_attribute',
  'schedule.window.days',
  'schedule.window.from',
  'schedule.window.to',
  'variants',
  ...[0, 1, 2, 3].flatMap((at) => ['', '.subject', '.flow_version', '.share'].map((field) => `variants.${at}${field}`)),
  'test_percent',
  'winner_by',
  'decide_after_seconds',
]

export function DraftView({ broadcast }: { broadcast: BroadcastDetail }) {
  const { id } = broadcast
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [saved, setSaved] = useState(() => draftOf(broadcast))
  const [draft, setDraft] = useState(saved)
  const flow = useQuery({ ...flowQuery(draft.flowId ?? ''), enabled: draft.flowId !== null })
  const variables = useVariables(draft, flow.data)
  const dirty = !isSame(draft, saved)
  const save = useMutation({
    mutationFn: (values: Draft) => changeBroadcast(id, changesOf(values, broadcast)),
    onSuccess: async (_, values) => {
      setSaved(values)
      await queries.invalidateQueries({ queryKey: broadcastQuery(id).queryKey, exact: true })
      await invalidate(keys.broadcastLists)
    },
  })
  const set = (changes: Partial<Draft>) => {
    setDraft({ ...draft, ...changes })
    if (save.isError) save.reset()
  }
  /** Resolves when the draft is stored. Rejects if it cannot be stored; the fields then show why. */
  const ensureSaved = async () => {
    if (!dirty) return
    await save.mutateAsync(draft)
    toast('Draft saved.')
  }
  const fields = { draft, set, error: save.error }
  const contextFields = (shown: Variable[], description: string) => (
    <ContextFields
      description={description}
      variables={shown}
      values={{ ...sampleOf(broadcast.context, shown), ...draft.context }}
      onChange={(name, text) => set({ context: { ...draft.context, [name]: text } })}
    />
  )
  return (
    <div className={classes.columns}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(draft, { onSuccess: () => toast('Draft saved.') })
        }}
      >
        <Stack gap="lg">
          <Part title="Content">
            <TextInput
              label="Name"
              description="Recipients don’t see it."
              required
              maxLength={200}
              value={draft.name}
              onChange={(event) => set({ name: event.currentTarget.value })}
              error={fieldProblem(save.error, 'name')}
            />
            <FlowFields {...fields} flow={flow.data} variables={variables.ofFlow} />
            {contextFields(
              variables.ofFlow,
              'Same for all recipients. Leave empty to use the contact attribute of the same name.',
            )}
          </Part>
          <Part title="A/B test">
            <VariantFields {...fields}>
              {contextFields(
                variables.ofVariants,
                'Variables that only variants use. Same for all recipients. Leave empty to use the contact attribute of the same name.',
              )}
            </VariantFields>
          </Part>
          <Part title="Audience">
            <AudienceFields {...fields} />
          </Part>
          <Part title="Schedule">
            <ScheduleFields {...fields} />
          </Part>
          <ErrorLine>{formProblem(save.error, shownPaths)}</ErrorLine>
          <Group>
            <Button type="submit" variant="default" loading={save.isPending} disabled={!dirty}>
              Save draft
            </Button>
          </Group>
        </Stack>
      </form>
      <Box className={classes.aside ?? ''}>
        <CheckPanel
          broadcast={broadcast}
          draft={draft}
          flow={flow.data}
          dirty={dirty}
          missing={missingOf(draft, flow.data)}
          ensureSaved={ensureSaved}
        />
      </Box>
      <UnsavedGuard dirty={dirty && !save.isPending} within={paths.broadcast(id)} />
    </div>
  )
}

function missingOf(draft: Draft, flow: Flow | undefined): string | undefined {
  if (draft.flowId === null || draft.groups.length + draft.segments.length === 0)
    return 'Choose a flow and an audience first.'
  if (flow?.kind === 'transactional' && !draft.serviceAnnouncement)
    return 'Choose a marketing flow, or confirm that this is a service announcement.'
  return undefined
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} mb="sm">
        {title}
      </Title>
      <Stack gap="sm">{children}</Stack>
    </Paper>
  )
}
