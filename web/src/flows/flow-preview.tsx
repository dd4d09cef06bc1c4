import { Box } from '@mantine/core'
import { useState } from 'react'
import type { TemplateProblem } from '../api/types.ts'
import { Notice } from '../ui/notice.tsx'
import { PreviewPanel, type ShownEmail } from '../ui/preview-panel.tsx'
import { Failed } from '../ui/states.tsx'
import { EmailCheck } from './email-check.tsx'
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
}

export function FlowPreview({ state, recipient, setRecipient, problems, mjml, onChoose }: Props) {
  const { preview } = state
  const [last, setLast] = useState<ShownEmail>()
  // The last valid preview stays while the template has an error.
  const { html, text, subject } = preview.data ?? {}
  if (typeof html === 'string' && (last?.html !== html || last.subject !== subject || last.text !== text)) {
    setLast({ html, text: text ?? '', subject: subject ?? '' })
  }
  const hasFailed = preview.error !== null && !preview.data
  return (
    <PreviewPanel
      title="Preview"
      email={last}
      isUpdating={preview.isPlaceholderData && preview.isFetching}
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
          <EmailCheck findings={preview.data.findings} links={preview.data.links} mjml={mjml} onChoose={onChoose} />
        </Box>
      )}
    </PreviewPanel>
  )
}
