import { ConflictNotice } from '../../ui/conflict-notice.tsx'
import type { Base } from './use-flow-draft.ts'

type Props = { newer: Base; onLoad: () => void; onSave: () => void }

/** Someone else saved or published the flow while it was edited here. */
export function NewerVersion({ newer, ...actions }: Props) {
  const isDraft = newer.revision > 0
  return (
    <ConflictNotice
      title={isDraft ? 'Someone else saved this draft' : `Someone else published version ${newer.version}`}
      {...actions}
    >
      {isDraft
        ? 'Your unsaved changes are based on an earlier draft. If you save them, they replace the fields that you changed.'
        : `Your unsaved changes are based on an earlier version. If you save them, they become a draft on top of version ${newer.version}.`}
    </ConflictNotice>
  )
}
