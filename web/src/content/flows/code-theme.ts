import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

// Uses the app's colour variables, so that one editor serves both themes. Contrast is at least 4.5:1.
const view = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)' },
  // The frame around the editor shows the focus: gutters would cover an outline in here.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.6' },
  '.cm-gutters': {
    backgroundColor: 'var(--page)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'light-dark(#cfe0f5, #2f4a6b)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--mantine-color-body)', border: '1px solid var(--line)' },
  '.cm-panels': { backgroundColor: 'var(--page)', color: 'var(--mantine-color-text)' },
  '.cm-insertedLine, .cm-changedLine': { backgroundColor: 'var(--good-surface) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-surface) !important' },
  '.cm-changedText': { background: 'light-dark(#bfe6cd, #24533f) !important' },
  '.cm-deletedChunk .cm-deletedText': { background: 'light-dark(#f3c4c0, #63302c) !important' },
})

const highlight = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: 'light-dark(#1d4f86, #9cc6f0)' },
  { tag: tags.attributeName, color: 'light-dark(#6d3fa0, #c9a7ec)' },
  { tag: [tags.attributeValue, tags.string], color: 'light-dark(#17633a, #7fd6a3)' },
  { tag: [tags.keyword, tags.controlKeyword, tags.operator], color: 'light-dark(#8a2a6b, #efa3d4)' },
  {
    tag: [tags.variableName, tags.propertyName, tags.function(tags.variableName)],
    color: 'light-dark(#7a4b00, #f1c979)',
  },
  { tag: [tags.number, tags.bool, tags.unit, tags.color], color: 'light-dark(#1b5c6b, #86d0df)' },
  { tag: [tags.comment, tags.documentMeta], color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
])

export const codeTheme: Extension = [view, syntaxHighlighting(highlight)]
