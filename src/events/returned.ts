import type { Tx } from '../db/db.ts'
import { groupBy } from '../values/group-by.ts'
import type { MessageId } from '../values/ids.ts'
import type { First, NewEvent } from './record.sql.ts'
import { bounceNames, findReturnedMessages } from './returned.sql.ts'

export type Returned = Pick<NewEvent, 'organizationId' | 'flowId'> & { sentAt: Date }

/**
 * Returns the messages that were sent and have bounced, because of these events. They are counted when they were sent
 * (`emailReturned`): emails sent on a day minus those of them that were returned is what was delivered. An email that the
 * mail server rejects was never sent, and is not among them.
 *
 * Nothing is looked up for messages that the caller knows: until now, they were neither sent nor rejected. The lock of their
 * message makes other transactions wait that record the other half.
 */
export async function findReturned(
  tx: Tx,
  fresh: readonly NewEvent[],
  firsts: readonly First[],
  known: readonly { id: MessageId }[],
): Promise<Returned[]> {
  const knownIds = new Set(known.map(({ id }) => id))
  const isOpen = ({ messageId }: NewEvent) => messageId !== null && !knownIds.has(messageId)
  const sent = fresh.filter((event) => event.eventName === 'emailSent' && isOpen(event))
  const bounces = firsts.flatMap(({ event, previousAt }) =>
    previousAt === null && bounceNames.includes(event.eventName) && isOpen(event) ? event : [],
  )
  const returned: Returned[] = []
  for (const [organizationId, events] of groupBy([...sent, ...bounces], (event) => event.organizationId)) {
    const byMessage = new Map(groupBy(events, (event) => event.messageId!))
    const messages = [...byMessage].map(([messageId, [first]]) => ({ messageId, contactId: first!.contactId }))
    for (const { messageId, sentAt, bounces } of await findReturnedMessages(tx, organizationId, messages)) {
      const names = byMessage.get(messageId)!.map(({ eventName }) => eventName)
      // Otherwise it was both before, and this is its second kind of bounce.
      const isNew = names.includes('emailSent') || bounces.every((name) => names.includes(name))
      if (isNew) returned.push({ organizationId, flowId: byMessage.get(messageId)![0]!.flowId, sentAt })
    }
  }
  return returned
}
