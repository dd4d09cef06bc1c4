import type { FlowKind, FlowRow, FlowStatus } from '../../api/types.ts'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

const badges: Record<FlowStatus, { tone: Tone; label: string }> = {
  active: { tone: 'good', label: 'Active' },
  paused: { tone: 'warn', label: 'Paused' },
  archived: { tone: 'neutral', label: 'Archived' },
  draft: { tone: 'neutral', label: 'Draft' },
}

export function FlowStatusBadge({ status }: { status: FlowStatus }) {
  return <StatusBadge tone={badges[status].tone}>{badges[status].label}</StatusBadge>
}

/** For a published flow whose draft differs from what is sent. */
export function UnpublishedBadge({ flow }: { flow: Pick<FlowRow, 'status' | 'draft'> }) {
  return flow.draft && flow.status !== 'draft' ? <StatusBadge tone="info">Unpublished changes</StatusBadge> : null
}

export const kindLabels: Record<FlowKind, string> = { transactional: 'Transactional', marketing: 'Marketing' }
