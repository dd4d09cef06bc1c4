import type { useRequestForm } from '../../ui/form.tsx'
import type { Values } from './form-values.ts'

/** What the parts of the form need of it. */
export type FormFields = Pick<ReturnType<typeof useRequestForm<Values, unknown>>, 'values' | 'field' | 'set'>
