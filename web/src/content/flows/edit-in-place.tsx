import { Anchor, Button, Group, Paper, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { decoded, type Picked, shownText } from '../../ui/shown-text.ts'
import classes from './edit-in-place.module.css'
import { escapedAttribute, escapedText, findAttribute, findText, replaced, type SourceRange } from './find-source.ts'

type Props = {
  source: string
  picked: Picked
  /** Where the click was, in pixels of the preview. */
  top: number
  onApply: (source: string) => void
  onClose: () => void
}

/** The places in the template of what was clicked. */
export function rangesOf(source: string, { text, href, src }: Picked) {
  return {
    text: text && findText(source, text),
    href: href && findAttribute(source, 'href', href),
    src: src && findAttribute(source, 'src', src),
  }
}

/** Edits a text, the address of a link or of an image beside the place in the preview that was clicked. */
export function EditInPlace({ source, picked, top, onApply, onClose }: Props) {
  const ranges = rangesOf(source, picked)
  const valueAt = (range: SourceRange | undefined) => (range ? source.slice(range.from, range.to) : '')
  const [text, setText] = useState(() => shownText(valueAt(ranges.text)))
  const [href, setHref] = useState(() => decoded(valueAt(ranges.href)))
  const [src, setSrc] = useState(() => decoded(valueAt(ranges.src)))
  const isFound = Object.values(ranges).some(Boolean)
  const apply = () => {
    const edits: [SourceRange | undefined, string, string][] = [
      [ranges.text, shownText(valueAt(ranges.text)) === text ? valueAt(ranges.text) : escapedText(text), text],
      [ranges.href, escapedAttribute(href), href],
      [ranges.src, escapedAttribute(src), src],
    ]
    // From the end of the template, so that the other ranges stay where they are.
    const inOrder = edits.flatMap(([range, value]) => (range ? [{ range, value }] : []))
    inOrder.sort((a, b) => b.range.from - a.range.from)
    onApply(inOrder.reduce((changed, { range, value }) => replaced(changed, range, value), source))
  }
  return (
    <Paper
      withBorder
      shadow="md"
      p="sm"
      className={classes.form ?? ''}
      style={{ top }}
      component="form"
      aria-label="Edit in place"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <Stack gap="xs">
        {!isFound && <Text size="sm">This comes from a variable or a part, so it cannot be edited here.</Text>}
        {ranges.text && (
          <Textarea
            size="xs"
            label="Text"
            autoFocus
            autosize
            minRows={1}
            maxRows={6}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        {ranges.href && (
          <TextInput
            size="xs"
            label="Link address"
            autoFocus={!ranges.text}
            value={href}
            onChange={(event) => setHref(event.currentTarget.value)}
          />
        )}
        {ranges.src && (
          <TextInput
            size="xs"
            label="Image address"
            value={src}
            onChange={(event) => setSrc(event.currentTarget.value)}
          />
        )}
        <Group gap="xs" justify="space-between">
          <Group gap="xs">
            {isFound && (
              <Button size="xs" type="submit">
                Apply
              </Button>
            )}
            <Button size="xs" variant="default" onClick={onClose}>
              {isFound ? 'Cancel' : 'Close'}
            </Button>
          </Group>
          {picked.href && /^https?:/i.test(picked.href.text) && (
            <Anchor size="xs" href={picked.href.text} target="_blank" rel="noreferrer">
              Open link
            </Anchor>
          )}
        </Group>
      </Stack>
    </Paper>
  )
}
