import { Badge, Button } from '@mantine/core'
import { IconDeviceFloppy, IconSend, IconUpload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Navigate, useLocation, useNavigate, useParams } from 'react-router'
import { formProblem } from '../../api/api-error.ts'
import type { Flow, FlowDraft, FlowText } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { newestContextQuery } from '../../sending/messages/messages.api.ts'
import { TestEmailDialog } from '../../sending/messages/test-email-dialog.tsx'
import { NotFoundPage } from '../../shell/status-pages.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'
import { UnsavedGuard } from '../../ui/unsaved-guard.tsx'
import { useEditorView } from './editor-view.ts'
import { FlowApiTab } from './flow-api-tab.tsx'
import { hasSender } from './flow-draft.ts'
import { FlowEditor } from './flow-editor.tsx'
import { FlowMenu } from './flow-menu.tsx'
import { FlowStatusBadge, UnpublishedBadge } from './flow-status.tsx'
import { FlowVersions } from './flow-versions.tsx'
import { draftQuery, flowQuery, sendTest } from './flows.api.ts'
import { NewerVersion } from './newer-version.tsx'
import { PublishDialog } from './publish-dialog.tsx'
import { FlowResultsTab } from './results/flow-results-tab.tsx'
import { type Sample, sampleOf } from './sample-data.ts'
import { readSample, storeSample } from './sample-storage.ts'
import { shownPaths } from './shown-paths.ts'
import { baseOf, useFlowDraft } from './use-flow-draft.ts'
import { usePreview } from './use-preview.ts'
import { useSaveShortcut } from './use-save-shortcut.ts'

const tabs = ['edit', 'versions', 'use']
const back = { to: paths.flows, label: 'Flows' }

export function FlowPage() {
  const { id = '', tab } = useParams()
  const { search } = useLocation()
  const flow = useQuery(flowQuery(id))
  const draft = useQuery(draftQuery(id, flow.data?.draft?.revision ?? 0))
  const stored = (flow.data?.draft && draft.data) ?? null
  // Once open, the editor stays mounted while a newer draft is loaded, so that unsaved changes are kept.
  const [openId, setOpenId] = useState<string>()
  const isReady = flow.data !== undefined && (flow.data.draft === null || stored !== null)
  if (isReady && openId !== id) setOpenId(id)
  // The address of the results before they became the first tab.
  if (tab === 'results') return <Navigate to={{ pathname: paths.flow(id), search }} replace />
  if (tab !== undefined && !tabs.includes(tab)) return <NotFoundPage />
  if (flow.data && (isReady || openId === id)) return <FlowView key={flow.data.id} flow={flow.data} stored={stored} />
  return (
    <Page title="Flow" back={back}>
      <Load query={flow}>{() => <Load query={draft}>{() => null}</Load>}</Load>
    </Page>
  )
}

/** Holds the text above the tabs, so that looking at a version does not lose unsaved changes. */
function FlowView({ flow, stored }: { flow: Flow; stored: FlowDraft | null }) {
  const { tab } = useParams()
  const navigate = useNavigate()
  const isEditing = tab === 'edit'
  const [testing, setTesting] = useState(false)
  const [publishing, setPublishing] = useState(false)
  const [deleted, setDeleted] = useState(false)
  const { base, draft, setDraft, dirty, newer, load, save, saveNow, saving, saveError } = useFlowDraft(flow, stored)
  const { view, setView } = useEditorView({ showsSender: hasSender(draft) })
  const shown = useSamplePreview(flow, draft, view.recipient)
  const isDraft = dirty || flow.draft !== null
  const canSave = dirty && newer === undefined && !saving
  useSaveShortcut(() => {
    if (canSave) save(base)
  })
  // Unmounts the unsaved-changes guard first: the flow no longer exists.
  if (deleted) return <Navigate to={paths.flows} replace />
  const openPublish = async () => {
    try {
      if (dirty) await saveNow()
      setPublishing(true)
    } catch {
      // The error is shown above the editor.
    }
  }
  return (
    <Page
      wide
      title={flow.name}
      beside={
        <>
          <FlowStatusBadge status={flow.status} />
          {flow.version > 0 && (
            <Badge variant="default" tt="none">
              Version {flow.version}
            </Badge>
          )}
          <UnpublishedBadge flow={flow} />
        </>
      }
      back={back}
      actions={
        <>
          <Button variant="default" leftSection={<IconSend size={16} aria-hidden />} onClick={() => setTesting(true)}>
            Send test email
          </Button>
          {(isEditing || dirty) && (
            <Button
              variant="default"
              leftSection={<IconDeviceFloppy size={16} aria-hidden />}
              disabled={!dirty || newer !== undefined}
              loading={saving}
              title="Ctrl+S"
              onClick={() => save(base)}
            >
              Save draft
            </Button>
          )}
          {(isEditing || dirty || flow.draft) && (
            <Button
              leftSection={<IconUpload size={16} aria-hidden />}
              disabled={(!dirty && !flow.draft) || newer !== undefined || saving}
              onClick={() => void openPublish()}
            >
              Publish
            </Button>
          )}
          <FlowMenu
            flow={flow}
            onDeleted={() => setDeleted(true)}
            onDiscarded={(published) => load(baseOf(published, null))}
          />
        </>
      }
    >
      <TabLinks label="Flow" tabs={tabsOf(flow.id)} />
      {newer && <NewerVersion newer={newer} onLoad={() => load(newer)} onSave={() => save(newer)} />}
      <ErrorLine>{formProblem(saveError, shownPaths)}</ErrorLine>
      {tab === undefined && <FlowResultsTab flow={flow} onTest={() => setTesting(true)} />}
      {tab === 'versions' && <FlowVersions flow={flow} stored={stored} dirty={dirty} onRestored={load} />}
      {tab === 'use' && <FlowApiTab flow={flow} context={shown.state.context} />}
      {isEditing && <FlowEditor {...{ draft, setDraft, saveError, view, setView, ...shown }} />}
      <TestEmailDialog
        opened={testing}
        onClose={() => setTesting(false)}
        send={async (to) => {
          if (dirty) await saveNow()
          return (await sendTest(flow.id, { to, context: shown.state.context, draft: isDraft })).emails
        }}
      >
        Sends {isDraft ? 'your unpublished changes' : `version ${flow.version}`} with the variables from the editor. The
        subject starts with [Test]. Test emails don’t count in your statistics, trigger no webhooks and create no
        contacts.
      </TestEmailDialog>
      <PublishDialog
        opened={publishing}
        onClose={() => setPublishing(false)}
        flow={flow}
        stored={stored}
        preview={shown.state.preview.data}
        onChoose={async (goTo) => {
          setPublishing(false)
          if (!isEditing) await navigate(paths.flowTab(flow.id, 'edit'))
          setView({ goTo })
        }}
      />
      <UnsavedGuard dirty={dirty} within={paths.flow(flow.id)} />
    </Page>
  )
}

const tabsOf = (id: string) => [
  { to: paths.flow(id), label: 'Results', end: true },
  { to: paths.flowTab(id, 'edit'), label: 'Edit' },
  { to: paths.flowTab(id, 'versions'), label: 'Versions' },
  { to: paths.flowTab(id, 'use'), label: 'API' },
]

/** The preview of the draft, with the values that this browser stores for the flow, or those of its newest email. */
function useSamplePreview({ id, variables }: Flow, draft: FlowText, recipient: string | null) {
  const [typed, setTyped] = useState(() => readSample(id))
  const newest = useQuery({ ...newestContextQuery(id), enabled: typed === undefined })
  const sample = useMemo(() => typed ?? sampleOf(newest.data ?? {}, variables), [typed, newest.data, variables])
  return {
    sample,
    setSample: (next: Sample) => {
      setTyped(next)
      storeSample(id, next)
    },
    state: usePreview(draft, sample, recipient),
  }
}
