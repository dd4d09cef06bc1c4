import type { Tx } from '../../platform/db/db.ts'
import { announceChange, pauseLanes, resumeLanes } from '../../platform/queue/queue.ts'
import type { BroadcastId } from '../../platform/values/ids.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { selectOpenParts } from './ledger.sql.ts'

/** Sends the parts of broadcasts. */
export const broadcastKind = 'broadcast.run'
/** Runs the steps before and after. They are a kind of their own, so that they never wait behind parts. */
export const stepKind = 'broadcast.step'

/**
 * prepare: freeze the recipients and create the parts. decide: choose the winner of the variants and create the parts of the
 * rest. finish: when all parts have ended, determine the result.
 */
export type Step = 'prepare' | 'decide' | 'finish'
export type StepPayload = { broadcastId: BroadcastId; step: Step }
export type PartPayload = { broadcastId: BroadcastId; part: number }

export const controlLane = (id: BroadcastId): string => id
export const partLane = (id: BroadcastId, part: number): string => `${id}/${part}`
/** The lane of emails that the relay deferred, among the emails of the organization. */
export const retryLane = (id: BroadcastId): string => `broadcast/${id}`

type Key = Pick<Broadcast, 'organizationId' | 'id'>

const partLanes = async (tx: Tx, { organizationId, id }: Key) =>
  (await selectOpenParts(tx, organizationId, id)).map((part) => partLane(id, part))

/** Workers that are sending parts of the broadcast read its status again. */
const announceStatus = (tx: Tx, { id }: Key) => announceChange(tx, broadcastKind, [controlLane(id)])

/** Stops workers from reading jobs of the broadcast. */
export async function holdLanes(tx: Tx, key: Key): Promise<void> {
  announceStatus(tx, key)
  await pauseLanes(tx, key.organizationId, broadcastKind, await partLanes(tx, key))
  await pauseLanes(tx, key.organizationId, 'message.send', [retryLane(key.id)])
}

/** With `allDue`, parts and emails that wait for a later time are due now, for example to be cancelled. */
export async function releaseHeldLanes(tx: Tx, key: Key, { allDue = false } = {}): Promise<void> {
  announceStatus(tx, key)
  await resumeLanes(tx, key.organizationId, broadcastKind, await partLanes(tx, key), { allDue })
  await resumeLanes(tx, key.organizationId, 'message.send', [retryLane(key.id)], { allDue })
}

/** A step that waits runs now, and may wait again: for the planned time, if that was moved. */
export const wakeStep = (tx: Tx, { organizationId, id }: Key): Promise<void> =>
  resumeLanes(tx, organizationId, stepKind, [controlLane(id)], { allDue: true })
