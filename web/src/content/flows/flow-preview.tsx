import { Box, Text } from '@mantine/core'
import { useState } from 'react'
import type { TemplateProblem } from '../../api/types.ts'
import { Notice } from '../../ui/notice.tsx'
import { PreviewPanel, type ShownEmail } from '../../ui/preview-panel.tsx'
import type { Picked } from '../../ui/shown-text.ts'
import { Failed } from '../../ui/states.tsx'
import { EditInPlace, rangesOf } from './edit-in-place.tsx'
import type { Place } from './editor-view.ts'
import { EmailCheck } from './email-check.tsx'
import { placeOf } from './find-source.ts'
import { PreviewRecipient } from './preview-recipient.tsx'
import { ProblemList } from './problems.tsx'
import type { PreviewState } from './use-preview.ts'

type Props = {
  state: PreviewState
  recipient: string | null
  setRecipient: (recipient: string | null) => void
  problems: TemplateProblem[]
  mjml: boolean
  onChoose: (problem: TemplateProblem) => void
  source: string
  setSource: (source: string) => void
  revealed: string | undefined
  /** Called with the place of what was clicked. */
  onPick: (place: Place) => void
}

export function FlowPreview(props: Props) {
  const { state, recipient, setRecipient, problems, mjml, onChoose, source, setSource, revealed, onPick } = props
  const [editing, setEditing] = useState<{ picked: Picked; top: number }>()
  const { preview } = state
  const [last, setLast] = useState<ShownEmail>()
  // The last valid preview stays while the template has an error.
  const { html, text, subject } = preview.data ?? {}
  if (typeof html === 'string' && (last?.html !== html || last.subject !== subject || last.text !== text)) {
    setLast({ html, text: text ?? '', subject: subject ?? '' })
  }
  const pick = (picked: Picked, top: number) => {
    setEditing({ picked, top })
    const { text, src, href } = rangesOf(source, picked)
    const range = text ?? src ?? href
    if (range) onPick({ path: 'html', ...placeOf(source, range.from), length: range.to - range.from })
  }
  const hasFailed = preview.error !== null && !preview.data
  return (
    <PreviewPanel
      title="Preview"
      email={last}
      isUpdating={preview.isPlaceholderData && preview.isFetching}
      picking={{ onPick: pick, revealed }}
      overlay={
        editing && (
          <EditInPlace
            key={JSON.stringify(editing)}
            {...editing}
            source={source}
            onApply={(next) => {
              setSource(next)
              setEditing(undefined)
            }}
            onClose={() => setEditing(undefined)}
          />
        )
      }
      instead={
        hasFailed ? (
          <Failed error={preview.error} retry={preview.refetch} retrying={preview.isFetching} />
        ) : !last && problems.length > 0 ? null : undefined
      }
    >
      {problems.length > 0 && (
        <Notice tone="bad" title={last ? 'The preview is out of date' : 'No preview yet'}>
          <ProblemList problems={problems} mjml={mjml} onChoose={onChoose} />
        </Notice>
      )}
      <PreviewRecipient
        by="email"
        recipient={recipient}
        setRecipient={setRecipient}
        placeholder="You"
        clearLabel="Preview for yourself"
      />
      {preview.data && (
        <Box mb="sm">
          <EmailCheck
            blockers={preview.data.blockers}
            findings={preview.data.findings}
            links={preview.data.links}
            mjml={mjml}
            onChoose={onChoose}
          />
        </Box>
      )}
      <Text size="xs" c="dimmed" mb="xs">
        Click a text, link or image to edit it.
      </Text>
    </PreviewPanel>
  )
}
