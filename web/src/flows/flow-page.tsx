import { Badge, Button } from '@mantine/core'
import { IconDeviceFloppy, IconSend } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useParams } from 'react-router'
import { remainingProblem } from '../api/api-error.ts'
import type { Flow, FlowText } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Page } from '../ui/page.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { TabLinks } from '../ui/tab-links.tsx'
import { toast } from '../ui/toast.tsx'
import { draftOf, sameDraft } from './flow-draft.ts'
import { FlowEditor } from './flow-editor.tsx'
import { FlowMenu } from './flow-menu.tsx'
import { FlowStatusBadge } from './flow-status.tsx'
import { FlowUse } from './flow-use.tsx'
import { FlowVersions } from './flow-versions.tsx'
import { changeFlow, flowQuery } from './flows.api.ts'
import type { Sample } from './sample-data.ts'
import { keepSample, readSample } from './sample-storage.ts'
import { shownPaths } from './shown-paths.ts'
import { TestDialog } from './test-dialog.tsx'
import { UnsavedGuard } from './unsaved-guard.tsx'
import { usePreview } from './use-preview.ts'

const back = { to: paths.flows, label: 'Flows' }

export function FlowPage() {
  const { id = '' } = useParams()
  const flow = useQuery(flowQuery(id))
  if (flow.data) return <OneFlow key={flow.data.id} flow={flow.data} />
  return (
    <Page title="Flow" back={back}>
      <Load query={flow}>{() => null}</Load>
    </Page>
  )
}

/** The draft lives here, above the tabs: looking at a version does not lose what was being written. */
function OneFlow({ flow }: { flow: Flow }) {
  const { tab = 'edit' } = useParams()
  const [testing, setTesting] = useState(false)
  const { draft, setDraft, dirty, save, sample, setSample, state } = useFlowDraft(flow)
  return (
    <Page
      title={flow.name}
      beside={
        <>
          <FlowStatusBadge status={flow.status} />
          <Badge variant="default" tt="none">
            Version {flow.version}
          </Badge>
        </>
      }
      back={back}
      actions={
        <>
          <Button variant="default" leftSection={<IconSend size={16} aria-hidden />} onClick={() => setTesting(true)}>
            Send test
          </Button>
          <Button
            leftSection={<IconDeviceFloppy size={16} aria-hidden />}
            disabled={!dirty}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
          <FlowMenu flow={flow} />
        </>
      }
    >
      <TabLinks label="Flow" tabs={tabsOf(flow.id)} />
      <ErrorLine>{remainingProblem(save.error, shownPaths)}</ErrorLine>
      {tab === 'versions' && <FlowVersions flow={flow} onRestored={(restored) => setDraft(draftOf(restored))} />}
      {tab === 'use' && <FlowUse flow={flow} context={state.context} />}
      {tab === 'edit' && <FlowEditor {...{ draft, setDraft, sample, setSample, state }} saveError={save.error} />}
      <TestDialog
        opened={testing}
        onClose={() => setTesting(false)}
        flow={flow}
        context={state.context}
        dirty={dirty}
      />
      <UnsavedGuard dirty={dirty} within={paths.flow(flow.id)} />
    </Page>
  )
}

const tabsOf = (id: string) => [
  { to: paths.flow(id), label: 'Edit', end: true },
  { to: paths.flowTab(id, 'versions'), label: 'Versions' },
  { to: paths.flowTab(id, 'use'), label: 'Use it' },
]

/** What is being written, what it looks like, and the way to save it. */
function useFlowDraft(flow: Flow) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(() => draftOf(flow))
  const [sample, setSample] = useState(() => readSample(flow.id))
  const state = usePreview(draft, sample)
  const save = useMutation({
    mutationFn: () => changeFlow(flow.id, { ...draft, name: draft.name.trim() }),
    onSuccess: async (saved) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, saved)
      setDraft(draftOf(saved))
      toast(`Saved as version ${saved.version}.`)
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['flows', 'list'] }),
        queries.invalidateQueries({ queryKey: ['flows', flow.id, 'versions'] }),
      ])
    },
  })
  return {
    draft,
    setDraft: (next: FlowText) => {
      setDraft(next)
      // What was wrong with the text before says nothing about the text now.
      if (save.isError) save.reset()
    },
    dirty: !sameDraft(draft, draftOf(flow)),
    save,
    sample,
    setSample: (next: Sample) => {
      setSample(next)
      keepSample(flow.id, next)
    },
    state,
  }
}
