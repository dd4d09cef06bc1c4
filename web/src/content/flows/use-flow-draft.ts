import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isConflict } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Flow, FlowDraft, FlowText } from '../../api/types.ts'
import { toast } from '../../ui/toast.tsx'
import { changesOf, draftOf, rebase, sameDraft } from './flow-draft.ts'
import { draftQuery, flowQuery, saveDraft } from './flows.api.ts'

/** The stored text that edits are based on: the draft, or the published version if there is no draft. */
export type Base = { version: number; revision: number; text: FlowText }

export const baseOf = (flow: Flow, stored: FlowDraft | null): Base => ({
  version: stored?.base_version ?? flow.version,
  revision: stored?.revision ?? 0,
  text: draftOf(stored ?? flow),
})

type SaveInput = { sent: FlowText; on: Base }

/**
 * The text in the editor and the actions to save it as the draft of the flow. An unchanged text follows the stored one. A
 * changed text keeps its base until the user decides what to do with a newer one.
 */
export function useFlowDraft(flow: Flow, stored: FlowDraft | null) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const latest = baseOf(flow, stored)
  const [{ base, draft }, setWork] = useState(() => startFrom(latest))
  const save = useMutation({
    mutationFn: ({ sent, on }: SaveInput) =>
      saveDraft(flow.id, {
        ...changesOf({ ...sent, name: sent.name.trim() }, on.text),
        base_revision: on.revision,
        ...(on.revision === 0 && { base_version: on.version }),
      }),
    onSuccess: async (saved, { sent }) => {
      queries.setQueryData(draftQuery(flow.id, saved.revision).queryKey, saved)
      queries.setQueryData(flowQuery(flow.id).queryKey, (now) => now && withDraft(now, saved))
      const next = baseOf(flow, saved)
      // Text typed after the save started is not part of it.
      setWork((now) => ({ base: next, draft: rebase(now.draft, sent, next.text) }))
      toast('Draft saved.')
      await invalidate(keys.flowLists)
    },
    onError: async (error) => {
      if (isConflict(error)) await invalidate(keys.flow(flow.id))
    },
  })

  const dirty = !sameDraft(draft, base.text)
  const hasMoved = latest.revision !== base.revision || latest.version !== base.version
  const hasConflict = hasMoved && dirty && !sameDraft(draft, latest.text)
  // During a save, the newer text may be its result.
  if ((hasMoved || !sameDraft(latest.text, base.text)) && !hasConflict && !save.isPending)
    setWork({ base: latest, draft: rebase(draft, base.text, latest.text) })
  const newer = hasConflict && !save.isPending ? latest : undefined

  return {
    base,
    draft,
    setDraft: (next: FlowText) => {
      setWork((now) => ({ ...now, draft: next }))
      // The errors belong to the text before this change.
      if (save.isError) save.reset()
    },
    dirty,
    /** What someone else saved or published, if the text has other changes. */
    newer,
    /** Replaces the text by the stored one. */
    load: (next: Base) => {
      setWork(startFrom(next))
      save.reset()
    },
    save: (on: Base) => save.mutate({ sent: draft, on }),
    /** Rejects if the text cannot be saved. */
    saveNow: () => save.mutateAsync({ sent: draft, on: base }),
    saving: save.isPending,
    // The notice about the newer text already explains the conflict.
    saveError: newer && isConflict(save.error) ? null : save.error,
  }
}

const startFrom = (base: Base) => ({ base, draft: base.text })

/** A flow that was never published has the name and the text of its draft. */
export function withDraft(flow: Flow, saved: FlowDraft): Flow {
  const { revision, base_version, updated_at } = saved
  const draft = { revision, base_version, updated_at }
  return flow.status === 'draft' ? { ...flow, ...draftOf(saved), draft } : { ...flow, draft }
}
