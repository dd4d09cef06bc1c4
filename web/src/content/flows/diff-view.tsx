import { html } from '@codemirror/lang-html'
import { liquid } from '@codemirror/lang-liquid'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import classes from './code-editor.module.css'
import { codeTheme } from './code-theme.ts'

/** The differences between two texts, in one column. Loaded on demand. */
export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!container.current) return
    const view = new EditorView({
      parent: container.current,
      doc: after,
      extensions: [
        basicSetup,
        liquid({ base: html() }),
        codeTheme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorState.readOnly.of(true),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
      ],
    })
    return () => view.destroy()
  }, [before, after, label])
  return <div ref={container} className={classes.diff} />
}
