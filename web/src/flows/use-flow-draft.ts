import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Flow, FlowText } from '../api/types.ts'
import { toast } from '../ui/toast.tsx'
import { changesOf, draftOf, rebase, sameDraft } from './flow-draft.ts'
import { changeFlow, flowQuery } from './flows.api.ts'

type SaveInput = { sent: FlowText; on: Flow }

/**
 * The draft of a flow and the actions to save it. An unchanged draft follows the flow. A changed draft keeps the version it
 * is based on until the user decides what to do with a newer one.
 */
export function useFlowDraft(flow: Flow) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [{ base, draft }, setWork] = useState(() => startFrom(flow))
  const save = useMutation({
    mutationFn: ({ sent, on }: SaveInput) =>
      changeFlow(flow.id, { ...changesOf({ ...sent, name: sent.name.trim() }, draftOf(on)), base_version: on.version }),
    onSuccess: async (saved, { sent, on }) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, saved)
      // Text typed after the save started is not part of it.
      setWork((now) => ({ base: saved, draft: rebase(now.draft, sent, draftOf(saved)) }))
      toast(saved.version === on.version ? 'Saved.' : `Saved as version ${saved.version}.`)
      await invalidate(keys.flowLists, keys.flowVersions(flow.id))
    },
    onError: async (error) => {
      if (isConflict(error)) await invalidate(keys.flow(flow.id))
    },
  })

  const dirty = !sameDraft(draft, draftOf(base))
  const hasConflict = flow.version > base.version && dirty && !sameDraft(draft, draftOf(flow))
  // During a save, the newer flow may be its result.
  if (isNewer(flow, base) && !hasConflict && !save.isPending)
    setWork({ base: flow, draft: rebase(draft, draftOf(base), draftOf(flow)) })
  const newer = hasConflict && !save.isPending ? flow : undefined

  return {
    base,
    draft,
    setDraft: (next: FlowText) => {
      setWork((now) => ({ ...now, draft: next }))
      // The errors belong to the text before this change.
      if (save.isError) save.reset()
    },
    dirty,
    /** The version that someone else saved, if the draft has other changes. */
    newer,
    /** Replaces the draft by `next`. */
    load: (next: Flow) => {
      setWork(startFrom(next))
      save.reset()
    },
    save: (on: Flow) => save.mutate({ sent: draft, on }),
    saving: save.isPending,
    // The notice about the newer version already explains the conflict.
    saveError: newer && isConflict(save.error) ? null : save.error,
  }
}

const startFrom = (flow: Flow) => ({ base: flow, draft: draftOf(flow) })

/** Changes of the name or the kind create no version, only a new `updated_at`. */
const isNewer = (flow: Flow, than: Flow) =>
  flow.version > than.version || (flow.version === than.version && flow.updated_at > than.updated_at)

const isConflict = (error: unknown) => error instanceof ApiError && error.status === 409
