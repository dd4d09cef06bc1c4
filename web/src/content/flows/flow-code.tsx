import { Box, Group, SegmentedControl, Select, Skeleton, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { FlowText, TemplateProblem, Variable } from '../../api/types.ts'
import type { Place } from './editor-view.ts'
import { type Block, insertionOf, shownBy } from './insert-blocks.ts'
import { InsertMenu } from './insert-menu.tsx'
import { TemplateHelp } from './template-help-drawer.tsx'

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

type Part = 'html' | 'text'
type Props = {
  draft: FlowText
  setDraft: (draft: FlowText) => void
  problems: TemplateProblem[]
  goTo: Place | undefined
  variables: Variable[]
  /** Called with the first text of what is inserted, or the address of an image. */
  onInsert: (shown: string | undefined) => void
}

const formats = [
  { value: 'html', label: 'HTML' },
  { value: 'mjml', label: 'MJML' },
]

type Insert = (source: string, cursor: number | undefined) => { at: number; text: string }

const inserting =
  (block: Block, format: FlowText['html_format']): Insert =>
  (source, cursor) =>
    insertionOf(block, format, source, cursor)

export function FlowCode({ draft, setDraft, problems, goTo, variables, onInsert }: Props) {
  const [part, setPart] = useState<Part>('html')
  const [insert, setInsert] = useState<Insert>()
  const choosePart = (next: Part) => {
    setPart(next)
    // The editor of the other part must not insert it again.
    setInsert(undefined)
  }
  const [wentTo, setWentTo] = useState(goTo)
  // Choosing a problem opens the part that contains it.
  if (goTo !== wentTo) {
    setWentTo(goTo)
    if (goTo?.path === 'html' || goTo?.path === 'text') choosePart(goTo.path)
  }
  const place =
    goTo?.path === part && goTo.line !== undefined
      ? { line: goTo.line, column: goTo.column ?? 1, length: goTo.length }
      : undefined
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
          onChange={(value) => choosePart(value as Part)}
        />
        <Group gap="xs">
          <InsertMenu
            isText={part === 'text'}
            variables={variables}
            onInsert={(block) => {
              setInsert(() => inserting(block, part === 'text' ? 'html' : draft.html_format))
              onInsert(shownBy(block.source.html))
            }}
          />
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
          insert={insert}
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
