import type { Tx } from '../../platform/db/db.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { MessageId } from '../../platform/values/ids.ts'
import type { CounterName } from './counters.sql.ts'
import type { First, NewEvent } from './record.sql.ts'
import { bounceNames, findBouncedMessages } from './returned.sql.ts'

/** How an email that bounced is counted: when it was sent (`emailReturned`), or when it was rejected (`emailRejected`). */
type Outcome = { eventName: Exclude<CounterName, NewEvent['eventName']>; at: Date }

export type OutcomeChange = Outcome & Pick<NewEvent, 'organizationId' | 'flowId' | 'messageId'> & { by: 1 | -1 }

/**
 * Returns how these events change the number of emails that were returned (sent, and bounced later) and rejected (bounced,
 * and never sent). Each counts once, whatever the number of its bounces: what was delivered is `emailSent` minus
 * `emailReturned`, and what left is `emailSent` plus `emailRejected`.
 *
 * Nothing is looked up for messages that the caller knows: until now, they were neither sent nor rejected, and each has one
 * event. The lock of their message makes other transactions wait that record the other half.
 */
export async function findOutcomeChanges(
  tx: Tx,
  fresh: readonly NewEvent[],
  firsts: readonly First[],
  known: readonly { id: MessageId }[],
): Promise<OutcomeChange[]> {
  const knownIds = new Set(known.map(({ id }) => id))
  const isOpen = ({ messageId }: NewEvent) => messageId !== null && !knownIds.has(messageId)
  const sent = fresh.filter((event) => event.eventName === 'emailSent' && isOpen(event))
  const bounces = firsts.filter(({ event }) => event.messageId !== null && bounceNames.includes(event.eventName))
  const changes = bounces.flatMap(({ event }) => (isOpen(event) ? [] : changesOf(event, undefined, rejectedAt(event))))
  const open = [...sent, ...bounces.flatMap(({ event }) => (isOpen(event) ? event : []))]
  const firstBounces = new Map(bounces.map((first) => [`${first.event.messageId} ${first.event.eventName}`, first]))
  for (const [organizationId, events] of groupBy(open, (event) => event.organizationId)) {
    const byMessage = new Map(groupBy(events, (event) => event.messageId!))
    const messages = [...byMessage].map(([messageId, [first]]) => ({ messageId, contactId: first!.contactId }))
    for (const { messageId, sentAt, hardAt, softAt } of await findBouncedMessages(tx, organizationId, messages)) {
      const recorded = byMessage.get(messageId)!
      const isNew = recorded.some(({ eventName }) => eventName === 'emailSent')
      const before = (eventName: string, now: Date | null) => {
        const first = firstBounces.get(`${messageId} ${eventName}`)
        return first ? (first.previousAt as Date | null) : now
      }
      changes.push(
        ...changesOf(
          recorded[0]!,
          outcomeOf(isNew ? null : sentAt, before('emailHardBounce', hardAt), before('emailSoftBounce', softAt)),
          outcomeOf(sentAt, hardAt, softAt),
        ),
      )
    }
  }
  return changes
}

const rejectedAt = ({ occurredAt: at }: NewEvent): Outcome => ({ eventName: 'emailRejected', at })

function outcomeOf(sentAt: Date | null, hardAt: Date | null, softAt: Date | null): Outcome | undefined {
  const bouncedAt = hardAt && softAt ? (hardAt < softAt ? hardAt : softAt) : (hardAt ?? softAt)
  if (!bouncedAt) return undefined
  return sentAt ? { eventName: 'emailReturned', at: sentAt } : { eventName: 'emailRejected', at: bouncedAt }
}

function changesOf(
  { organizationId, flowId, messageId }: NewEvent,
  before: Outcome | undefined,
  after: Outcome | undefined,
): OutcomeChange[] {
  if (before?.eventName === after?.eventName && before?.at.getTime() === after?.at.getTime()) return []
  const message = { organizationId, flowId, messageId }
  return [
    ...(before ? [{ ...message, ...before, by: -1 as const }] : []),
    ...(after ? [{ ...message, ...after, by: 1 as const }] : []),
  ]
}
