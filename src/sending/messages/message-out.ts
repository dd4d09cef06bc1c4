import { isTestRecipientId } from '../../audience/audience.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { toText } from '../../platform/values/ids.ts'
import { engagementOf } from './engagement.ts'
import { EventOut } from './message-shapes.ts'
import type { MessageEvent, MessageRow } from './messages.sql.ts'
import type { Waiting } from './waiting.ts'

export const eventOut = outOf(EventOut, { id: 'evt' })

/** The broadcast that the message belongs to, or null. */
export const broadcastOf = ({ broadcastId: id, broadcastName: name }: MessageRow) =>
  id === null || name === null ? null : { id: toText('brc', id), name }

export const messageOut = (message: MessageRow, events: MessageEvent[], waiting: Waiting | undefined) => ({
  id: toText('msg', message.id),
  flow_id: toText('flw', message.flowId),
  flow_name: message.flowName,
  broadcast: broadcastOf(message),
  contact: {
    id: isTestRecipientId(message.contactId) ? null : toText('con', message.contactId),
    email: message.email,
  },
  subject: message.subject,
  status: message.status,
  engagement: engagementOf(message),
  first_opened_at: message.firstOpenedAt?.toISOString() ?? null,
  first_clicked_at: message.firstClickedAt?.toISOString() ?? null,
  reason: message.reason,
  is_test: message.isTest,
  queued_at: message.queuedAt.toISOString(),
  sent_at: message.sentAt?.toISOString() ?? null,
  send_at: message.sendAt?.toISOString() ?? null,
  waiting: waiting
    ? {
        cause: waiting.cause,
        detail: waiting.detail,
        next_attempt_at: waiting.nextAttemptAt?.toISOString() ?? null,
        attempts: waiting.attempts,
      }
    : null,
  events: events.map(eventOut),
})
