import { invalid, Refusal } from '../../platform/values/errors.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { AudienceCounts } from '../audience/audience.sql.ts'
import type { Broadcast } from '../broadcasts.sql.ts'

type Declared = Pick<Broadcast, 'serviceAnnouncement'>

/**
 * The kind of email that a broadcast sends. It follows from what was declared and confirmed, not from the flow, whose kind can
 * be changed while the broadcast is being sent.
 */
export const kindOf = ({ serviceAnnouncement }: Declared): FlowKind =>
  serviceAnnouncement ? 'transactional' : 'marketing'

/** Throws `Refusal` if the flow is of another kind than the broadcast. */
export function checkKind(broadcast: Declared, flow: { kind: FlowKind }): void {
  if (flow.kind === kindOf(broadcast)) return
  if (flow.kind === 'transactional')
    throw invalid({
      path: 'flow_id',
      problem:
        'This flow is transactional, so it would also reach people who unsubscribed. Choose a marketing flow, or declare the broadcast as a service announcement (service_announcement)',
    })
  throw invalid({
    path: 'service_announcement',
    problem: 'Only a transactional flow can be sent as a service announcement. This flow is a marketing flow',
  })
}

/** The numbers that the caller has seen in the check, and whether the caller may send service announcements. */
export type Confirmation = {
  recipients: number | undefined
  unsubscribed: number | undefined
  mayAnnounce: boolean
}

/** Throws `Refusal` if the caller may not send this announcement, or has not confirmed how many people who unsubscribed get it. */
export function checkAnnouncer(broadcast: Declared, confirmation: Confirmation): void {
  if (!broadcast.serviceAnnouncement) return
  if (!confirmation.mayAnnounce)
    throw new Refusal(
      'forbidden',
      'Only owners can send a service announcement, because it also reaches people who unsubscribed. Ask an owner to start it.',
    )
  if (confirmation.unsubscribed === undefined)
    throw invalid({
      path: 'expected_unsubscribed',
      problem:
        'is required for a service announcement: the number of unsubscribed contacts that receive it, as the check returned it',
    })
}

/** Throws `Refusal` if another number of people who unsubscribed would get the announcement than was confirmed. */
export function checkUnsubscribed(
  broadcast: Declared,
  { unsubscribed }: Pick<AudienceCounts, 'unsubscribed'>,
  { unsubscribed: expected = 0 }: Confirmation,
): void {
  if (broadcast.serviceAnnouncement && expected !== unsubscribed)
    throw new Refusal(
      'conflict',
      `${unsubscribed.toLocaleString('en')} unsubscribed contacts would receive this announcement now, not ${expected.toLocaleString('en')}. Check it again and confirm the new number.`,
    )
}
