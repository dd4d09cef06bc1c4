import { Box, Group, SegmentedControl, Select, Skeleton, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { FlowText, TemplateProblem } from '../api/types.ts'
import { TemplateHelp } from './template-help-drawer.tsx'

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

type Part = 'html' | 'text'
type Props = {
  draft: FlowText
  setDraft: (draft: FlowText) => void
  problems: TemplateProblem[]
  goTo: TemplateProblem | undefined
}

const formats = [
  { value: 'html', label: 'HTML' },
  { value: 'mjml', label: 'MJML' },
]

export function FlowCode({ draft, setDraft, problems, goTo }: Props) {
  const [part, setPart] = useState<Part>('html')
  const [wentTo, setWentTo] = useState(goTo)
  // Choosing a problem opens the part that contains it.
  if (goTo !== wentTo) {
    setWentTo(goTo)
    if (goTo?.path === 'html' || goTo?.path === 'text') setPart(goTo.path)
  }
  const place =
    goTo?.path === part && goTo.line !== undefined ? { line: goTo.line, column: goTo.column ?? 1 } : undefined
  return (
    <Box>
      <Group justify="space-between" mb={6} gap="xs">
        <SegmentedControl
          aria-label="Part of the email"
          size="xs"
          data={[
            { value: 'html', label: 'Design' },
            { value: 'text', label: 'Plain text' },
          ]}
          value={part}
          onChange={(value) => setPart(value as Part)}
        />
        <Group gap="xs">
          <TemplateHelp />
          {part === 'html' && (
            <Select
              aria-label="Format"
              size="xs"
              w={100}
              data={formats}
              value={draft.html_format}
              allowDeselect={false}
              onChange={(value) => setDraft({ ...draft, html_format: value as FlowText['html_format'] })}
            />
          )}
        </Group>
      </Group>
      <Suspense fallback={<Skeleton height="min(560px, 60vh)" />}>
        <CodeEditor
          key={part}
          label={part === 'html' ? 'HTML' : 'Plain text'}
          value={(part === 'html' ? draft.html : draft.text) ?? ''}
          onChange={(value) =>
            setDraft(part === 'html' ? { ...draft, html: value } : { ...draft, text: value || null })
          }
          problems={problems.filter((problem) => problem.path === part)}
          goTo={place}
        />
      </Suspense>
      {part === 'text' && !draft.text && (
        <Text size="xs" c="dimmed" mt={4}>
          Leave empty to generate it from the HTML.
        </Text>
      )}
    </Box>
  )
}
