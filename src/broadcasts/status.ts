import type { Tx } from '../platform/db/db.ts'
import { enqueue } from '../platform/queue/queue.ts'
import { Refusal } from '../platform/values/errors.ts'
import { newId } from '../platform/values/ids.ts'
import { type Broadcast, updateStatus } from './broadcasts.sql.ts'
import { controlLane, holdLanes, type Step, type StepPayload, stepKind } from './ledger/lanes.ts'

export const notIn = ({ status }: Pick<Broadcast, 'status'>, advice: string) =>
  new Refusal('conflict', `This broadcast is ${status}. ${advice}`)

/** Pauses a broadcast that is being sent. Throws `Refusal` in any other status. */
export async function pause(
  tx: Tx,
  current: Broadcast,
  { reason, detail }: { reason: string; detail: string | null },
): Promise<void> {
  if (current.status !== 'sending') throw notIn(current, 'Only a broadcast that is being sent can be paused.')
  await updateStatus(tx, current, { status: 'paused', reason, detail })
  await holdLanes(tx, current)
}

export function enqueueStep(
  tx: Tx,
  { organizationId, id }: Pick<Broadcast, 'organizationId' | 'id'>,
  step: Step,
  delayMs: number,
): void {
  const payload: StepPayload = { broadcastId: id, step }
  enqueue(tx, [{ organizationId, kind: stepKind, lane: controlLane(id), id: newId('brc'), delayMs, payload }])
}
