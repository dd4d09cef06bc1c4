import { html } from '@codemirror/lang-html'
import { liquid } from '@codemirror/lang-liquid'
import { foldEffect } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { Annotation } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { basicSetup } from 'codemirror'
import { useEffect, useEffectEvent, useRef } from 'react'
import type { TemplateProblem } from '../../api/types.ts'
import classes from './code-editor.module.css'
import { codeTheme } from './code-theme.ts'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  problems: TemplateProblem[]
  /** Moves the cursor to a position, or selects a piece; a new object moves it again. */
  goTo?: { line: number; column: number; length?: number | undefined } | undefined
  /**
   * Returns what to insert into the text for the position of the cursor, undefined before the user has set it; a new
   * function inserts again.
   */
  insert?: ((source: string, cursor: number | undefined) => { at: number; text: string }) | undefined
}

/** Marks changes that were not typed. The editor normalizes line endings, so its text may differ from `value`. */
const fromOutside = Annotation.define<boolean>()

/** Loaded on demand: the editor is larger than all the rest of the app. */
export function CodeEditor({ label, value, onChange, problems, goTo, insert }: Props) {
  const container = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView>(undefined)
  const edited = useEffectEvent(onChange)
  const initial = useRef(value)
  const hasCursor = useRef(false)

  useEffect(() => {
    if (!container.current) return
    const view = new EditorView({
      parent: container.current,
      doc: initial.current,
      extensions: [
        basicSetup,
        liquid({ base: html() }),
        lintGutter(),
        codeTheme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.focusChanged && update.view.hasFocus) hasCursor.current = true
          const isTyped = update.transactions.some((one) => one.docChanged && !one.annotation(fromOutside))
          if (isTyped) edited(update.state.doc.toString())
        }),
      ],
    })
    editor.current = view
    foldHead(view)
    return () => view.destroy()
  }, [label])

  // A value that did not come from typing, such as a restored version.
  useEffect(() => {
    const view = editor.current
    if (!view) return
    const next = view.state.toText(value).toString()
    const now = view.state.doc.toString()
    if (now !== next) view.dispatch({ changes: differenceOf(now, next), annotations: fromOutside.of(true) })
  }, [value])

  useEffect(() => {
    const view = editor.current
    if (view)
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map((problem) => diagnosticOf(view, problem)),
        ),
      )
  }, [problems])

  useEffect(() => {
    const view = editor.current
    if (!view || !goTo) return
    const anchor = offsetOf(view, goTo.line, goTo.column)
    hasCursor.current = true
    if (goTo.length === undefined) {
      view.dispatch({ selection: { anchor }, scrollIntoView: true })
      view.focus()
      return
    }
    // Chosen in the preview, which keeps the focus and stays where it is.
    view.dispatch({ selection: { anchor, head: Math.min(anchor + goTo.length, view.state.doc.length) } })
    view.scrollDOM.scrollTop = view.lineBlockAt(anchor).top - view.scrollDOM.clientHeight / 3
  }, [goTo])

  useEffect(() => {
    const view = editor.current
    if (!view || !insert) return
    const { at, text } = insert(
      view.state.doc.toString(),
      hasCursor.current ? view.state.selection.main.head : undefined,
    )
    view.dispatch({
      changes: { from: at, insert: text },
      selection: { anchor: at + text.length },
      scrollIntoView: true,
    })
    view.focus()
  }, [insert])

  return <div ref={container} className={classes.editor} />
}

function diagnosticOf(view: EditorView, problem: TemplateProblem): Diagnostic {
  const from = offsetOf(view, problem.line ?? 1, problem.column ?? 1)
  const lineEnd = view.state.doc.lineAt(from).to
  return { from, to: Math.max(from, lineEnd), severity: 'error', message: problem.problem }
}

/** The part that differs, so that folded lines and the cursor stay where they are. */
function differenceOf(now: string, next: string) {
  const shorter = Math.min(now.length, next.length)
  let start = 0
  while (start < shorter && now[start] === next[start]) start++
  let end = 0
  while (end < shorter - start && now[now.length - 1 - end] === next[next.length - 1 - end]) end++
  return { from: start, to: now.length - end, insert: next.slice(start, next.length - end) }
}

/** Folds the head of an MJML template: fonts and styles are rarely changed, and would hide the words of the email. */
function foldHead(view: EditorView): void {
  const text = view.state.doc.toString()
  const from = text.indexOf('<mj-head>') + '<mj-head>'.length
  const to = text.indexOf('</mj-head>', from)
  if (from >= '<mj-head>'.length && to > from) view.dispatch({ effects: foldEffect.of({ from, to }) })
}

/** The template may have become shorter since the problem was found: positions beyond its end become its end. */
function offsetOf(view: EditorView, line: number, column: number): number {
  const { doc } = view.state
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Math.min(at.from + Math.max(column, 1) - 1, at.to)
}
