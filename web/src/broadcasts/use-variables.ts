import { useDebouncedValue } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import type { Flow, Variable } from '../api/types.ts'
import { subjectVariablesQuery, versionQuery } from '../content/flows/flows.api.ts'
import { contextPath, isContextVariable } from '../content/flows/sample-data.ts'
import type { Draft, DraftVariant } from './draft.ts'

const typingPauseMs = 350

/** The variables that contacts do not provide: those of the flow, and those that only its variants use. */
export function useVariables({ flow_id: flowId, subject, variants }: Draft, flow: Flow | undefined) {
  const [analyzed] = useDebouncedValue(variants.map(subjectOf), typingPauseMs)
  const [analyzedSubject] = useDebouncedValue(subject, typingPauseMs)
  const variantSubjects = useSubjectVariables(analyzed)
  const subjectVariables = useSubjectVariables([analyzedSubject]).flat()
  const versionVariables = useVersionVariables(flowId, variants)
  // Until the flow is loaded, it is unknown where a field belongs.
  if (flowId !== null && flow?.id !== flowId) return { ofFlow: [], ofVariants: [] }
  const flowVariables = [...(flow?.variables ?? []), ...subjectVariables].filter(isContextVariable)
  const all = merged([flowVariables, ...versionVariables, ...variantSubjects])
  const ofFlow = merged([flowVariables]).length
  return { ofFlow: all.slice(0, ofFlow), ofVariants: all.slice(ofFlow) }
}

const subjectOf = ({ content, subject }: DraftVariant) => (content === 'subject' ? subject : '')

/** While a subject has an error, or is being analyzed, the variables from before are kept. */
function useSubjectVariables(typed: readonly string[]): Variable[][] {
  const [known, setKnown] = useState<Variable[][]>([])
  const subjects = typed.map((subject) => subject.trim())
  const unique = [...new Set(subjects)].filter((subject) => subject !== '')
  const found = useQueries({ queries: unique.map(subjectVariablesQuery) })
  const now = subjects.map((subject, at) =>
    subject === '' ? [] : (found[unique.indexOf(subject)]?.data ?? known[at] ?? []),
  )
  if (JSON.stringify(now) !== JSON.stringify(known)) setKnown(now)
  return now
}

function useVersionVariables(flowId: string | null, variants: readonly DraftVariant[]): Variable[][] {
  const versions = variants.flatMap(({ content, flow_version: version }) =>
    content === 'version' && version ? Number(version) : [],
  )
  const ids = flowId === null ? [] : [...new Set(versions)]
  const found = useQueries({ queries: ids.map((version) => versionQuery(flowId ?? '', version)) })
  return found.map(({ data }) => data?.variables ?? [])
}

/** Each once, in the order of their first use. `context.offer` is the same as `offer`. */
function merged(lists: readonly (readonly Variable[])[]): Variable[] {
  const byPath = new Map<string, Variable>()
  for (const variable of lists.flat().filter(isContextVariable)) {
    const path = contextPath(variable.name).join('.')
    const earlier = byPath.get(path) ?? variable
    byPath.set(path, { ...earlier, has_default: earlier.has_default && variable.has_default })
  }
  return [...byPath.values()]
}
