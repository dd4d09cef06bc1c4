import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import type { Flow, FlowText } from '../api/types.ts'
import { toast } from '../ui/toast.tsx'
import { changesOf, draftOf, rebase, sameDraft } from './flow-draft.ts'
import { changeFlow, flowQuery } from './flows.api.ts'

type Saving = { sent: FlowText; on: Flow }

/**
 * What is being written, and the way to save it. A draft in which nothing was changed follows the flow. One that was
 * changed stays with the version it was made from, its base, until the person has decided.
 */
export function useFlowDraft(flow: Flow) {
  const queries = useQueryClient()
  const [{ base, draft }, setWork] = useState(() => workOn(flow))
  const save = useMutation({
    mutationFn: ({ sent, on }: Saving) =>
      changeFlow(flow.id, { ...changesOf({ ...sent, name: sent.name.trim() }, draftOf(on)), base_version: on.version }),
    onSuccess: async (saved, { sent, on }) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, saved)
      // What was typed since the save began is not in it.
      setWork((now) => ({ base: saved, draft: rebase(now.draft, sent, draftOf(saved)) }))
      toast(saved.version === on.version ? 'Saved.' : `Saved as version ${saved.version}.`)
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['flows', 'list'] }),
        queries.invalidateQueries({ queryKey: ['flows', flow.id, 'versions'] }),
      ])
    },
    onError: async (error) => {
      if (isConflict(error)) await queries.invalidateQueries({ queryKey: flowQuery(flow.id).queryKey })
    },
  })

  const dirty = !sameDraft(draft, draftOf(base))
  const overtaken = flow.version > base.version && dirty && !sameDraft(draft, draftOf(flow))
  // While a save is running, the newer flow may be its own.
  if (isNewer(flow, base) && !overtaken && !save.isPending)
    setWork({ base: flow, draft: rebase(draft, draftOf(base), draftOf(flow)) })
  const newer = overtaken && !save.isPending ? flow : undefined

  return {
    base,
    draft,
    setDraft: (next: FlowText) => {
      setWork((now) => ({ ...now, draft: next }))
      // What was wrong with the text before says nothing about the text now.
      if (save.isError) save.reset()
    },
    dirty,
    /** What somebody else has saved since, while the draft holds other changes. */
    newer,
    /** Goes on from `next` and forgets the draft. */
    load: (next: Flow) => {
      setWork(workOn(next))
      save.reset()
    },
    save: (on: Flow) => save.mutate({ sent: draft, on }),
    saving: save.isPending,
    // The notice about the newer version says the same, and what to do.
    saveError: newer && isConflict(save.error) ? null : save.error,
  }
}

const workOn = (flow: Flow) => ({ base: flow, draft: draftOf(flow) })

/** A change of the name or the kind makes no version. */
const isNewer = (flow: Flow, than: Flow) =>
  flow.version > than.version || (flow.version === than.version && flow.updated_at > than.updated_at)

const isConflict = (error: unknown) => error instanceof ApiError && error.status === 409
