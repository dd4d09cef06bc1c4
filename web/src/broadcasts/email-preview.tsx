import { SegmentedControl, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { formProblem } from '../api/api-error.ts'
import type { BroadcastPreview, PreviewChanges } from '../api/types.ts'
import { PreviewRecipient } from '../content/flows/preview-recipient.tsx'
import { Notice } from '../ui/notice.tsx'
import { PreviewPanel } from '../ui/preview-panel.tsx'
import { broadcastPreviewQuery, type VariantKey } from './broadcasts.api.ts'

const typingPauseMs = 350

type Props = {
  id: string
  title: string
  variants: readonly VariantKey[]
  /** Changes that are not saved. */
  draft?: PreviewChanges
  /** Styles for the links of the email. */
  cssOf?: (preview: BroadcastPreview) => string
  /** Explains what is shown on the email. */
  children?: ReactNode
}

/** The email of a broadcast as one of its recipients gets it. */
export function EmailPreview({ id, title, variants, draft, cssOf, children }: Props) {
  const [contactId, setContactId] = useState<string | null>(null)
  const [variant, setVariant] = useState<VariantKey>()
  const [changes] = useDebouncedValue(draft, typingPauseMs)
  const shown = variant !== undefined && variants.includes(variant) ? variant : undefined
  const preview = useQuery(
    broadcastPreviewQuery(id, {
      ...(contactId !== null && { contact_id: contactId }),
      ...(shown && { variant: shown }),
      ...(changes && { draft: changes }),
    }),
  )
  const { data } = preview
  const [choices, setChoices] = useState(data?.choices ?? [])
  if (data && data.choices.length > 0 && data.choices !== choices) setChoices(data.choices)
  const problem = formProblem(preview.error)
  const email =
    data && data.html !== null ? { html: data.html, text: data.text ?? '', subject: data.subject ?? '–' } : undefined
  return (
    <PreviewPanel
      title={title}
      email={email}
      isUpdating={preview.isPlaceholderData && preview.isFetching}
      instead={problem && !data ? <Text c="dimmed">{problem}</Text> : undefined}
      {...(data && cssOf && { css: cssOf(data) })}
    >
      {problem && data && (
        <Notice tone="warn" title="The preview is out of date">
          {problem}
        </Notice>
      )}
      {variants.length > 0 && (
        <SegmentedControl
          aria-label="Variant"
          size="xs"
          mb="sm"
          fullWidth
          data={variants.map((key) => ({ value: key, label: `Variant ${key}` }))}
          value={shown ?? data?.variant ?? variants[0]!}
          onChange={(key) => setVariant(key as VariantKey)}
        />
      )}
      <PreviewRecipient
        by="id"
        recipient={contactId ?? data?.contact?.id ?? null}
        setRecipient={setContactId}
        choices={choices}
        placeholder={data?.choices.length === 0 ? 'Nobody in the audience yet' : 'The first recipient'}
        clearLabel="Show the first recipient"
      />
      {data && <Remarks preview={data} />}
      {children}
    </PreviewPanel>
  )
}

function Remarks({ preview: { contact, in_audience: isIncluded, missing } }: { preview: BroadcastPreview }) {
  return (
    <div aria-live="polite">
      {contact && !isIncluded && (
        <Notice tone="info">This contact doesn’t get this broadcast. The email is shown as an example.</Notice>
      )}
      {missing.length > 0 && (
        <Notice tone="warn" title={contact ? 'This contact would get no email' : 'Values are missing'}>
          {missing.join(', ')} {missing.length === 1 ? 'has' : 'have'} no value.
        </Notice>
      )}
    </div>
  )
}
