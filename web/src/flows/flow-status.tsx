import type { FlowKind, FlowStatus } from '../api/types.ts'
import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

const shown: Record<FlowStatus, { tone: Tone; label: string }> = {
  active: { tone: 'good', label: 'Active' },
  paused: { tone: 'warn', label: 'Paused' },
  archived: { tone: 'still', label: 'Archived' },
}

export function FlowStatusBadge({ status }: { status: FlowStatus }) {
  return <StatusBadge tone={shown[status].tone}>{shown[status].label}</StatusBadge>
}

export const kindLabels: Record<FlowKind, string> = { transactional: 'Transactional', marketing: 'Marketing' }
