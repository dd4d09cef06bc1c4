import { Skeleton, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { FlowText } from '../../api/types.ts'
import { Empty } from '../../ui/states.tsx'
import { kindLabels } from './flow-status.tsx'
import { utmQuery } from './utm.ts'

const DiffView = lazy(async () => ({ default: (await import('./diff-view.tsx')).DiffView }))

type Compared = Omit<FlowText, 'name' | 'kind'> & Partial<Pick<FlowText, 'name' | 'kind'>>

const lines = {
  name: 'Name',
  kind: 'Kind',
  subject: 'Subject',
  preheader: 'Preheader',
  html_format: 'Format',
  from_name: 'From name',
  from_email: 'From address',
  reply_to: 'Reply-to',
  utm: 'Campaign parameters',
} as const satisfies Partial<Record<keyof FlowText, string>>
const lineNames = Object.keys(lines) as (keyof typeof lines)[]

const same = (a: string | null | undefined, b: string | null | undefined) => (a ?? '') === (b ?? '')

/** The differences between two texts of a flow. */
export function FlowDifference({ before, after }: { before: Compared; after: Compared }) {
  const changed = lineNames.filter((name) => !same(shown(before, name), shown(after, name)))
  if (changed.length === 0 && before.html === after.html && same(before.text, after.text))
    return <Empty title="No differences" />
  return (
    <Stack gap="xs">
      {changed.map((name) => (
        <Text key={name} className="break">
          {lines[name]} changed from {shown(before, name) ? <del>{shown(before, name)}</del> : 'empty'} to{' '}
          {shown(after, name) ? <ins>{shown(after, name)}</ins> : 'empty'}
        </Text>
      ))}
      <Suspense fallback={<Skeleton height={320} />}>
        {before.html !== after.html && <DiffView before={before.html} after={after.html} label="Changes" />}
        {!same(before.text, after.text) && (
          <DiffView before={before.text ?? ''} after={after.text ?? ''} label="Changes in the plain text" />
        )}
      </Suspense>
    </Stack>
  )
}

function shown(text: Compared, name: keyof typeof lines) {
  if (name === 'utm') return utmQuery(text.utm)
  if (name === 'html_format') return text.html_format?.toUpperCase()
  return name === 'kind' ? text.kind && kindLabels[text.kind] : text[name]
}
