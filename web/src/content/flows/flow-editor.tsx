import { Box, Stack } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { ApiError } from '../../api/api-error.ts'
import type { FlowText, TemplateProblem } from '../../api/types.ts'
import type { EditorView } from './editor-view.ts'
import { FlowCode } from './flow-code.tsx'
import classes from './flow-editor.module.css'
import { FlowFields } from './flow-fields.tsx'
import { FlowPreview } from './flow-preview.tsx'
import { Problems } from './problems.tsx'
import type { Sample } from './sample-data.ts'
import { SampleForm } from './sample-form.tsx'
import type { PreviewState } from './use-preview.ts'

type Props = {
  draft: FlowText
  setDraft: (draft: FlowText) => void
  sample: Sample
  setSample: (sample: Sample) => void
  state: PreviewState
  view: EditorView
  setView: (change: Partial<EditorView>) => void
  saveError: unknown
}

const noProblems: TemplateProblem[] = []

/** The template on the left, its preview on the right. */
export function FlowEditor({ draft, setDraft, sample, setSample, state, view, setView, saveError }: Props) {
  const subject = useRef<HTMLInputElement>(null)
  const found = state.preview.data?.problems ?? noProblems
  const problems = found.length > 0 ? found : locatedProblems(saveError)
  const mjml = draft.html_format === 'mjml'
  const { goTo } = view
  const goToProblem = (problem: TemplateProblem) => setView({ goTo: problem })
  useEffect(() => {
    if (goTo?.path === 'subject') subject.current?.focus()
  }, [goTo])
  return (
    <div className={classes.editor}>
      <Stack gap="md">
        <FlowFields
          draft={draft}
          setDraft={setDraft}
          error={saveError}
          problems={problems}
          subject={subject}
          showsSender={view.showsSender}
          setShowsSender={(showsSender) => setView({ showsSender })}
        />
        <FlowCode
          draft={draft}
          setDraft={setDraft}
          problems={problems}
          goTo={goTo}
          variables={state.variables}
          onInsert={(revealed) => setView({ revealed })}
        />
        {/* On a wide screen, the problems are listed beside the editor, above the preview. */}
        <Box hiddenFrom="md">
          <Problems problems={problems} mjml={mjml} onChoose={goToProblem} />
        </Box>
      </Stack>
      <Stack gap="md" className={classes.result}>
        <FlowPreview
          state={state}
          recipient={view.recipient}
          setRecipient={(recipient) => setView({ recipient })}
          problems={problems}
          mjml={mjml}
          onChoose={goToProblem}
          source={draft.html}
          setSource={(html) => setDraft({ ...draft, html })}
          revealed={view.revealed}
          onPick={(goTo) => setView({ goTo, revealed: undefined })}
        />
        <SampleForm
          variables={state.variables}
          loading={state.preview.data === undefined}
          missing={state.preview.data?.missing ?? []}
          sample={sample}
          setSample={setSample}
        />
      </Stack>
    </div>
  )
}

const locatedProblems = (error: unknown): TemplateProblem[] =>
  error instanceof ApiError ? error.fields.filter((field) => field.line !== undefined) : noProblems
