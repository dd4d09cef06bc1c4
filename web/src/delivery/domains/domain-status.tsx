import type { Domain } from '../../api/types.ts'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

const states: Record<Domain['status'], { tone: Tone; label: string }> = {
  pending: { tone: 'neutral', label: 'Waiting for DNS' },
  verified: { tone: 'good', label: 'Verified' },
  warning: { tone: 'warn', label: 'Record vanished' },
  unverified: { tone: 'bad', label: 'Not verified' },
}

export function DomainStatus({ status }: Pick<Domain, 'status'>) {
  return <StatusBadge tone={states[status].tone}>{states[status].label}</StatusBadge>
}
