import { Button, Group, Select, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Flow, FlowVersion, FlowVersionRow } from '../api/types.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Section } from '../ui/section.tsx'
import { Empty, ErrorLine, Load } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { changeFlow, flowQuery, versionQuery, versionsQuery } from './flows.api.ts'

const DiffView = lazy(async () => ({ default: (await import('./diff-view.tsx')).DiffView }))

const date = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })

type Props = { flow: Flow; dirty: boolean; onRestored: (flow: Flow) => void }

const lines = {
  subject: 'Subject',
  html_format: 'Format',
  from_name: 'From name',
  from_email: 'From address',
  reply_to: 'Reply-to',
} as const satisfies Partial<Record<keyof FlowVersion, string>>
const lineNames = Object.keys(lines) as (keyof typeof lines)[]

/** Compares any two saved versions and restores an old one. */
export function FlowVersions(props: Props) {
  const versions = useQuery(versionsQuery(props.flow.id))
  return (
    <Section
      title="Versions"
      description="Each save creates a version. Emails already queued keep the version they were queued with."
    >
      <Load
        query={versions}
        isEmpty={(list) => list.length < 2}
        empty={<Empty title="Only one version so far">Save a change to compare versions here.</Empty>}
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
        {(from) => <Load query={newer}>{(to) => <Difference before={from} after={to} />}</Load>}
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

function Difference({ before, after }: { before: FlowVersion; after: FlowVersion }) {
  const changed = lineNames.filter((name) => before[name] !== after[name])
  if (changed.length === 0 && before.html === after.html && before.text === after.text)
    return <Empty title="No differences" />
  return (
    <Stack gap="xs">
      {changed.map((name) => (
        <Text key={name}>
          {lines[name]} changed from {before[name] ? <del>{shown(before, name)}</del> : 'empty'} to{' '}
          {after[name] ? <ins>{shown(after, name)}</ins> : 'empty'}
        </Text>
      ))}
      <Suspense fallback={<Skeleton height={320} />}>
        {before.html !== after.html && <DiffView before={before.html} after={after.html} label="Changes" />}
        {before.text !== after.text && (
          <DiffView before={before.text ?? ''} after={after.text ?? ''} label="Changes in the plain text" />
        )}
      </Suspense>
    </Stack>
  )
}

const shown = (version: FlowVersion, name: keyof typeof lines) =>
  name === 'html_format' ? version.html_format.toUpperCase() : version[name]

function Restore({ flow, dirty, version, onRestored }: Props & { version: FlowVersion }) {
  const [asking, setAsking] = useState(false)
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const restore = useMutation({
    mutationFn: () =>
      changeFlow(flow.id, {
        subject: version.subject,
        html: version.html,
        html_format: version.html_format,
        text: version.text,
        from_name: version.from_name,
        from_email: version.from_email,
        reply_to: version.reply_to,
        base_version: flow.version,
      }),
    onSuccess: async (saved) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, saved)
      onRestored(saved)
      toast(`Restored version ${version.version} as version ${saved.version}.`)
      await invalidate(keys.flowVersions(flow.id))
    },
    // The flow may have a newer version, which is shown before the user tries again.
    onError: () => invalidate(keys.flow(flow.id)),
  })
  return (
    <>
      <Button
        variant="default"
        disabled={version.version === flow.version}
        loading={restore.isPending}
        onClick={() => (dirty ? setAsking(true) : restore.mutate())}
      >
        Restore version {version.version}
      </Button>
      {restore.isError && !asking && <ErrorLine>{messageOf(restore.error)}</ErrorLine>}
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Discard unsaved changes?"
        action={`Restore version ${version.version}`}
        run={() => restore.mutateAsync()}
      >
        Your unsaved changes in the editor will be lost when version {version.version} is restored.
      </Confirm>
    </>
  )
}
