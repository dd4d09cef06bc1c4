import { Button } from '@mantine/core'
import { IconDeviceFloppy } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { formProblem } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import { paths } from '../../paths.ts'
import { Page } from '../../ui/page.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { UnsavedGuard } from '../../ui/unsaved-guard.tsx'
import { passingView, useEditorView } from './editor-view.ts'
import { newDraft, sameDraft } from './flow-draft.ts'
import { FlowEditor } from './flow-editor.tsx'
import { createDraft, flowQuery } from './flows.api.ts'
import type { Sample } from './sample-data.ts'
import { storeSample } from './sample-storage.ts'
import { shownPaths } from './shown-paths.ts'
import { starters } from './starters.ts'
import { usePreview } from './use-preview.ts'
import { useSaveShortcut } from './use-save-shortcut.ts'

export function NewFlowPage() {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [search] = useSearchParams()
  const starter = starters.find(({ id }) => id === search.get('starter'))
  const [initial] = useState(() => starter?.flow ?? newDraft())
  const [draft, setDraft] = useState(initial)
  const [sample, setSample] = useState<Sample>(() => starter?.sample ?? { order_id: 'A-1001' })
  const { view, setView } = useEditorView({})
  const state = usePreview(draft, sample, view.recipient)
  const create = useMutation({
    mutationFn: () => createDraft({ ...draft, name: draft.name.trim() }),
    onSuccess: async (flow) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, flow)
      await invalidate(keys.flowLists)
      storeSample(flow.id, sample)
      toast('Draft saved. Publish it when it is ready.')
      await navigate(paths.flowTab(flow.id, 'edit'), { state: passingView(view) })
    },
  })
  useSaveShortcut(() => {
    if (!create.isPending) create.mutate()
  })
  return (
    <Page
      wide
      title="Create flow"
      back={{ to: paths.starters, label: 'Starters' }}
      actions={
        <Button
          leftSection={<IconDeviceFloppy size={16} aria-hidden />}
          loading={create.isPending}
          title="Ctrl+S"
          onClick={() => create.mutate()}
        >
          Save draft
        </Button>
      }
    >
      <ErrorLine>{formProblem(create.error, shownPaths)}</ErrorLine>
      <FlowEditor
        draft={draft}
        setDraft={(next) => {
          setDraft(next)
          // The errors belong to the text before this change.
          if (create.isError) create.reset()
        }}
        sample={sample}
        setSample={setSample}
        state={state}
        view={view}
        setView={setView}
        saveError={create.error}
      />
      <UnsavedGuard
        dirty={!create.isSuccess && !create.isPending && !sameDraft(draft, initial)}
        within={paths.newFlow}
      />
    </Page>
  )
}
