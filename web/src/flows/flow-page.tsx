import { Badge, Button } from '@mantine/core'
import { IconDeviceFloppy, IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, useParams } from 'react-router'
import { formProblem } from '../api/api-error.ts'
import type { Flow, FlowText } from '../api/types.ts'
import { paths } from '../paths.ts'
import { NotFoundPage } from '../shell/status-pages.tsx'
import { Page } from '../ui/page.tsx'
import { ErrorLine, Load } from '../ui/states.tsx'
import { TabLinks } from '../ui/tab-links.tsx'
import { FlowApiTab } from './flow-api-tab.tsx'
import { FlowEditor } from './flow-editor.tsx'
import { FlowMenu } from './flow-menu.tsx'
import { FlowStatusBadge } from './flow-status.tsx'
import { FlowVersions } from './flow-versions.tsx'
import { flowQuery } from './flows.api.ts'
import { NewerVersion } from './newer-version.tsx'
import { FlowResultsTab } from './results/flow-results-tab.tsx'
import type { Sample } from './sample-data.ts'
import { readSample, storeSample } from './sample-storage.ts'
import { shownPaths } from './shown-paths.ts'
import { TestDialog } from './test-dialog.tsx'
import { UnsavedGuard } from './unsaved-guard.tsx'
import { useFlowDraft } from './use-flow-draft.ts'
import { usePreview } from './use-preview.ts'

const tabs = ['results', 'edit', 'versions', 'use']
const back = { to: paths.flows, label: 'Flows' }

export function FlowPage() {
  const { id = '', tab = 'edit' } = useParams()
  const flow = useQuery(flowQuery(id))
  if (!tabs.includes(tab)) return <NotFoundPage />
  if (flow.data) return <FlowView key={flow.data.id} flow={flow.data} />
  return (
    <Page title="Flow" back={back}>
      <Load query={flow}>{() => null}</Load>
    </Page>
  )
}

/** Holds the draft above the tabs, so that looking at a version does not lose unsaved changes. */
function FlowView({ flow }: { flow: Flow }) {
  const { tab = 'edit' } = useParams()
  const [testing, setTesting] = useState(false)
  const [deleted, setDeleted] = useState(false)
  const { base, draft, setDraft, dirty, newer, load, save, saving, saveError } = useFlowDraft(flow)
  const shown = useSamplePreview(flow.id, draft)
  // Unmounts the unsaved-changes guard first: the flow no longer exists.
  if (deleted) return <Navigate to={paths.flows} replace />
  return (
    <Page
      wide
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
            Send test email
          </Button>
          <Button
            leftSection={<IconDeviceFloppy size={16} aria-hidden />}
            disabled={!dirty || newer !== undefined}
            loading={saving}
            onClick={() => save(base)}
          >
            Save
          </Button>
          <FlowMenu flow={flow} onDeleted={() => setDeleted(true)} />
        </>
      }
    >
      <TabLinks label="Flow" tabs={tabsOf(flow.id)} />
      {newer && <NewerVersion newer={newer} base={base} onLoad={() => load(newer)} onSave={() => save(newer)} />}
      <ErrorLine>{formProblem(saveError, shownPaths)}</ErrorLine>
      {tab === 'results' && <FlowResultsTab flow={flow} />}
      {tab === 'versions' && <FlowVersions flow={flow} dirty={dirty} onRestored={load} />}
      {tab === 'use' && <FlowApiTab flow={flow} context={shown.state.context} />}
      {tab === 'edit' && <FlowEditor {...{ draft, setDraft, saveError, ...shown }} />}
      <TestDialog
        opened={testing}
        onClose={() => setTesting(false)}
        flow={flow}
        context={shown.state.context}
        dirty={dirty}
      />
      <UnsavedGuard dirty={dirty} within={paths.flow(flow.id)} />
    </Page>
  )
}

const tabsOf = (id: string) => [
  { to: paths.flowResults(id), label: 'Results' },
  { to: paths.flow(id), label: 'Edit', end: true },
  { to: paths.flowTab(id, 'versions'), label: 'Versions' },
  { to: paths.flowTab(id, 'use'), label: 'API' },
]

/** The preview of the draft, with the sample data that this browser stores for the flow. */
function useSamplePreview(id: string, draft: FlowText) {
  const [sample, setSample] = useState(() => readSample(id))
  return {
    sample,
    setSample: (next: Sample) => {
      setSample(next)
      storeSample(id, next)
    },
    state: usePreview(draft, sample),
  }
}
