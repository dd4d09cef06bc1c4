import type { FlowKind, FlowStatus } from '../api/types.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

const badges: Record<FlowStatus, { tone: Tone; label: string }> = {
  active: { tone: 'good', label: 'Active' },
  paused: { tone: 'warn', label: 'Paused' },
  archived: { tone: 'neutral', label: 'Archived' },
}

export function FlowStatusBadge({ status }: { status: FlowStatus }) {
  return <StatusBadge tone={badges[status].tone}>{badges[status].label}</StatusBadge>
}

export const kindLabels: Record<FlowKind, string> = { transactional: 'Transactional', marketing: 'Marketing' }
