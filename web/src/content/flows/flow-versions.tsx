import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Flow, FlowDraft, FlowVersion, FlowVersionRow } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty, ErrorLine, Load } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { FlowDifference } from './flow-difference.tsx'
import { draftQuery, flowQuery, saveDraft, versionQuery, versionsQuery } from './flows.api.ts'
import { type Base, baseOf, withDraft } from './use-flow-draft.ts'

const date = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })

type Props = { flow: Flow; stored: FlowDraft | null; dirty: boolean; onRestored: (base: Base) => void }

/** Compares any two saved versions and restores an old one. */
export function FlowVersions(props: Props) {
  const versions = useQuery(versionsQuery(props.flow.id))
  return (
    <Section
      title="Versions"
      description="Publishing creates a version. Emails already queued keep the version they were queued with."
    >
      <Load
        query={versions}
        isEmpty={(list) => list.length < 2}
        empty={
          <Empty title={props.flow.version === 0 ? 'Not published yet' : 'Only one version so far'}>
            Publish a change to compare versions here.
          </Empty>
        }
      >
        {(list) => <Compare {...props} versions={list} />}
      </Load>
    </Section>
  )
}

function Compare({ versions, ...props }: Props & { versions: FlowVersionRow[] }) {
  const { flow } = props
  const [before, setBefore] = useState(versions[1]?.version ?? 1)
  const [after, setAfter] = useState(versions[0]?.version ?? 1)
  const older = useQuery(versionQuery(flow.id, before))
  const newer = useQuery(versionQuery(flow.id, after))
  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="sm">
        <VersionSelect label="From" versions={versions} chosen={before} choose={setBefore} />
        <VersionSelect label="To" versions={versions} chosen={after} choose={setAfter} />
        {older.data && <Restore {...props} version={older.data} />}
      </Group>
      <Load query={older}>
        {(from) => <Load query={newer}>{(to) => <FlowDifference before={from} after={to} />}</Load>}
      </Load>
    </Stack>
  )
}

type SelectProps = { label: string; versions: FlowVersionRow[]; chosen: number; choose: (version: number) => void }

/** The author is on a separate line: an address may be longer than the select is wide. */
function VersionSelect({ label, versions, chosen, choose }: SelectProps) {
  const savedBy = (value: string) => {
    const by = versions.find((row) => String(row.version) === value)?.created_by
    return by && <span className="break">Saved by {by}</span>
  }
  return (
    <Select
      label={label}
      description={savedBy(String(chosen))}
      w={{ base: '100%', xs: 300 }}
      data={versions.map((row) => ({
        value: String(row.version),
        label: `Version ${row.version}, ${date.format(new Date(row.created_at))}`,
      }))}
      renderOption={({ option }) => (
        <div>
          {option.label}
          <Text size="xs" c="dimmed">
            {savedBy(option.value)}
          </Text>
        </div>
      )}
      value={String(chosen)}
      allowDeselect={false}
      onChange={(value) => value && choose(Number(value))}
    />
  )
}

/** An old version becomes the draft, and is sent only after it was published. */
function Restore({ flow, stored, dirty, version, onRestored }: Props & { version: FlowVersion }) {
  const [asking, setAsking] = useState(false)
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const restore = useMutation({
    mutationFn: () =>
      saveDraft(flow.id, {
        subject: version.subject,
        html: version.html,
        html_format: version.html_format,
        text: version.text,
        from_name: version.from_name,
        from_email: version.from_email,
        reply_to: version.reply_to,
        preheader: version.preheader,
        utm: version.utm,
        base_version: flow.version,
        base_revision: stored?.revision ?? 0,
      }),
    onSuccess: async (saved) => {
      queries.setQueryData(draftQuery(flow.id, saved.revision).queryKey, saved)
      queries.setQueryData(flowQuery(flow.id).queryKey, (now) => now && withDraft(now, saved))
      onRestored(baseOf(flow, saved))
      toast(`Version ${version.version} is now the draft. Publish it to send it.`)
      await invalidate(keys.flowLists)
    },
    // The flow may have a newer version or draft, which is shown before the user tries again.
    onError: () => invalidate(keys.flow(flow.id)),
  })
  return (
    <>
      <Button
        variant="default"
        disabled={version.version === flow.version}
        loading={restore.isPending}
        onClick={() => (dirty || stored ? setAsking(true) : restore.mutate())}
      >
        Restore version {version.version}
      </Button>
      {restore.isError && !asking && <ErrorLine>{messageOf(restore.error)}</ErrorLine>}
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Replace your unpublished changes?"
        action={`Restore version ${version.version}`}
        run={() => restore.mutateAsync()}
      >
        Version {version.version} becomes the draft. Your unpublished changes will be lost.
      </Confirm>
    </>
  )
}
