import type { useRequestForm } from '../ui/form.tsx'
import type { Draft } from './draft.ts'

export type DraftForm = Pick<ReturnType<typeof useRequestForm<Draft, unknown>>, 'values' | 'set' | 'field'>
