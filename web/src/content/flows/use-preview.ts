import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { FlowText, Variable } from '../../api/types.ts'
import { previewQuery } from './flows.api.ts'
import { type Sample, toContext } from './sample-data.ts'

const typingPauseMs = 350

/** The preview follows the draft with a short delay. `variables` are those of the last valid template. */
export function usePreview(draft: FlowText, sample: Sample, recipient: string | null) {
  const [known, setKnown] = useState<Variable[]>([])
  const context = useMemo(() => toContext(sample, known), [sample, known])
  const { name: _, ...text } = draft
  const asked = { ...text, context, ...(recipient !== null && { contact_email: recipient }) }
  const [input] = useDebouncedValue(asked, typingPauseMs)
  const preview = useQuery(previewQuery(input))
  const variables = preview.data?.variables
  // A template with errors has no known variables, so those of the last valid one are kept.
  if (variables && preview.data?.problems.length === 0 && JSON.stringify(variables) !== JSON.stringify(known)) {
    setKnown(variables)
  }
  return { preview, variables: known, context }
}

export type PreviewState = ReturnType<typeof usePreview>
