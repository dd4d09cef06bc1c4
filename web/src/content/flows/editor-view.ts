import { useState } from 'react'
import { useLocation } from 'react-router'
import type { TemplateProblem } from '../../api/types.ts'

/** What the author chose to see beside the text of the flow. */
export type EditorView = {
  /** The contact whose email the preview shows. Null: the author. */
  recipient: string | null
  showsSender: boolean
  /** The place in the text that was chosen last; a new object shows it again. */
  goTo?: Place
  /** The content that was inserted last, which the preview shows. */
  revealed?: string | undefined
}

/** A position in a part of the template, or a piece of it with a length. */
export type Place = Pick<TemplateProblem, 'path' | 'line' | 'column'> & { length?: number }

/** Continues with the view in the state of the navigation, which the page of a new flow passes on when it is saved. */
export function useEditorView(initial: Partial<EditorView>) {
  const { state } = useLocation()
  const [view, setView] = useState<EditorView>({
    recipient: null,
    showsSender: false,
    ...initial,
    ...passedView(state),
  })
  return { view, setView: (change: Partial<EditorView>) => setView((now) => ({ ...now, ...change })) }
}

export const passingView = ({ goTo: _, ...view }: EditorView) => ({ editorView: view })

const passedView = (state: unknown): Partial<EditorView> =>
  typeof state === 'object' && state !== null && 'editorView' in state ? (state.editorView as EditorView) : {}
