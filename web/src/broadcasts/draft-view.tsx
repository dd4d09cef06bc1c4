import { Box, Button, Group, Paper, Stack, TextInput, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { isConflict } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail, Flow, PreviewChanges, Variable } from '../api/types.ts'
import { CampaignFields } from '../content/flows/campaign-fields.tsx'
import { flowQuery } from '../content/flows/flows.api.ts'
import { sampleOf } from '../content/flows/sample-data.ts'
import { paths } from '../paths.ts'
import { ConflictNotice } from '../ui/conflict-notice.tsx'
import { useRequestForm } from '../ui/form.tsx'
import { Notice } from '../ui/notice.tsx'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { isEmpty } from './audience-count.tsx'
import { AudienceFields } from './audience-fields.tsx'
import { broadcastQuery, changeBroadcast } from './broadcasts.api.ts'
import { CheckPanel } from './check-panel.tsx'
import { ContextFields } from './context-fields.tsx'
import { changesOf, type Draft, draftOf, editOf, isSame, rebase, variantKeys } from './draft.ts'
import { problemsOf, withSavableSchedule } from './draft-problems.ts'
import classes from './draft-view.module.css'
import { EmailPreview } from './email-preview.tsx'
import { FlowFields } from './flow-fields.tsx'
import { ScheduleFields } from './schedule-fields.tsx'
import { useVariables } from './use-variables.ts'
import { VariantFields } from './variant-fields.tsx'
import { ZonedTime } from './zoned-time.tsx'

export function DraftView({ broadcast }: { broadcast: BroadcastDetail }) {
  const { id } = broadcast
  const isScheduled = broadcast.status === 'scheduled'
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [saved, setSaved] = useState(() => draftOf(broadcast))
  const form = useRequestForm({
    initialValues: saved,
    validate: problemsOf,
    send: (values) => changeBroadcast(id, editOf(withSavableSchedule(values, saved), saved, broadcast)),
    onSuccess: async ({ revision }, values) => {
      // What was typed after the save started is not part of it.
      setSaved({ ...withSavableSchedule(values, saved), base_revision: revision })
      form.set({ base_revision: revision })
      toast(isScheduled ? 'Changes saved.' : 'Draft saved.')
      await queries.invalidateQueries({ queryKey: broadcastQuery(id).queryKey, exact: true })
      await invalidate(keys.broadcastLists)
    },
    onError: async (error) => {
      if (isConflict(error)) await invalidate(keys.broadcast(id))
    },
  })
  const { values: draft } = form
  const flow = useQuery({ ...flowQuery(draft.flow_id ?? ''), enabled: draft.flow_id !== null })
  const variables = useVariables(draft, flow.data)
  const dirty = !isSame(draft, saved)
  const hasMoved = broadcast.revision > saved.base_revision
  // During a save, the newer content may be its result.
  const newer = hasMoved && dirty && !form.sending ? draftOf(broadcast) : undefined
  const load = (content: Draft) => {
    setSaved(content)
    form.set(content)
  }
  // A draft without changes follows the saved one.
  useEffect(() => {
    if (hasMoved && !dirty && !form.sending) load(draftOf(broadcast))
  })
  const saveAnyway = (content: Draft) => {
    const rebased = rebase(draft, saved, content)
    setSaved(content)
    form.set(rebased)
    form.save(rebased).catch(() => {})
  }
  const contextFields = (shown: Variable[], description: string) => (
    <ContextFields
      description={description}
      variables={shown}
      values={{ ...sampleOf(broadcast.context, shown), ...draft.context }}
      onChange={(name, text) => form.set({ context: { ...draft.context, [name]: text } })}
    />
  )
  return (
    <div className={classes.columns}>
      <form noValidate onSubmit={form.submit}>
        <Stack gap="lg">
          {isScheduled && <ScheduledNotice broadcast={broadcast} />}
          <Part title="Content">
            <TextInput
              label="Name"
              description="Recipients don’t see it."
              required
              maxLength={200}
              {...form.field('name')}
            />
            <FlowFields form={form} flow={flow.data} variables={variables.ofFlow} />
            <TextInput
              label="Subject"
              description="Leave empty to use the subject of the flow."
              placeholder={flow.data?.subject ?? ''}
              maxLength={2000}
              {...form.field('subject')}
            />
            <CampaignFields
              description="Added to the links in the email. Leave all fields empty to use the parameters of the flow. In an A/B test, an empty content field becomes the name of the variant."
              field={(name) => form.field(`utm.${name}`)}
            />
            {contextFields(
              variables.ofFlow,
              'Same for all recipients. Leave empty to use the contact attribute of the same name.',
            )}
          </Part>
          <Part title="A/B test">
            <VariantFields form={form}>
              {contextFields(
                variables.ofVariants,
                'Variables that only variants use. Same for all recipients. Leave empty to use the contact attribute of the same name.',
              )}
            </VariantFields>
          </Part>
          <Part title="Audience">
            <AudienceFields form={form} />
          </Part>
          <Part title="Schedule">
            <ScheduleFields form={form} isScheduled={isScheduled} />
          </Part>
          {newer ? (
            <ConflictNotice
              title="Someone else changed this broadcast"
              onLoad={() => load(newer)}
              onSave={() => saveAnyway(newer)}
            >
              Your unsaved changes are based on an earlier state. If you save them, they replace the fields that you
              changed.
            </ConflictNotice>
          ) : (
            <ErrorLine>{form.problem}</ErrorLine>
          )}
          <Group>
            <Button type="submit" variant="default" loading={form.sending} disabled={!dirty || newer !== undefined}>
              {isScheduled ? 'Save changes' : 'Save draft'}
            </Button>
            {isScheduled && (
              <Button variant="subtle" component={Link} to={paths.broadcast(id)}>
                Stop editing
              </Button>
            )}
          </Group>
        </Stack>
      </form>
      <Box className={classes.aside ?? ''}>
        <CheckPanel
          broadcast={broadcast}
          draft={draft}
          dirty={dirty}
          missing={missingOf(draft, flow.data)}
          ensureSaved={async () => (dirty ? await form.save() : undefined)}
        />
        {draft.flow_id !== null && (
          <EmailPreview
            id={id}
            title="Email"
            variants={variantKeys.slice(0, draft.variants.length)}
            draft={shownChanges(draft, broadcast)}
          />
        )}
      </Box>
      {/* A scheduled broadcast is shown at the same path when editing has ended. */}
      <UnsavedGuard
        dirty={dirty && !form.sending}
        within={isScheduled ? paths.editBroadcast(id) : paths.broadcast(id)}
      />
    </div>
  )
}

/** The changes that the email and its recipients depend on. */
function shownChanges(draft: Draft, broadcast: BroadcastDetail): PreviewChanges {
  const { base_revision, name, schedule, messages_per_hour, missed_after_seconds, ...shown } = changesOf(
    draft,
    broadcast,
  )
  return shown
}

function missingOf(draft: Draft, flow: Flow | undefined): string | undefined {
  if (draft.flow_id === null || isEmpty(draft.audience)) return 'Choose a flow and an audience first.'
  if (flow?.kind === 'transactional' && !draft.service_announcement)
    return 'Choose a marketing flow, or confirm that this is a service announcement.'
  return undefined
}

function ScheduledNotice({ broadcast: { starts_at: at } }: { broadcast: BroadcastDetail }) {
  return (
    <Notice tone="info" title="This broadcast is scheduled">
      It starts <ZonedTime at={at} />. Changes that you save before then are included.
    </Notice>
  )
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
