import type { Reader } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type MessageId, type OrganizationId, parseId } from '../../platform/values/ids.ts'
import {
  findUsedKeys,
  findWrittenMessages,
  type StoredAnswer,
  type StoredMessage,
  type UsedKey,
  type WrittenMessage,
} from './accept.sql.ts'
import {
  type AcceptedMessage,
  type EmailResult,
  type IdempotencyKey,
  keyName,
  keyReused,
  type NewEmail,
} from './submission.ts'

export function answerText(results: readonly EmailResult[]): string {
  const answer: StoredAnswer = results.map((result) => {
    if (!result.ok) {
      const { type, message, fields } = result.error
      return { error: { type, message, fields } }
    }
    const messages = result.email.messages.map(({ id, status, reason, warnings, contactCreated }) => ({
      ...{ id, status, reason, warnings },
      contact_created: contactCreated,
    }))
    return { id: result.email.id, messages }
  })
  return JSON.stringify(answer)
}

/** Returns undefined for a format that this release does not know. */
function answerOf({ answer, messageId }: UsedKey): StoredAnswer | undefined {
  if (!isObject(answer)) return undefined
  // 0.1.0 stored the only message.
  if ('status' in answer) return [{ id: null, messages: [{ ...(answer as Omit<StoredMessage, 'id'>), id: messageId }] }]
  // Before 0.2.0, emails without a flow were stored with the ids of the API.
  const emails = Array.isArray(answer.emails) ? answer.emails.map(withStoredIds) : answer
  return Array.isArray(emails) && emails.length > 0 && emails.every(isStored) ? emails : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isStored = (email: unknown): email is StoredAnswer[number] =>
  isObject(email) &&
  (isObject(email.error) ||
    (Array.isArray(email.messages) &&
      email.messages.length > 0 &&
      email.messages.every((message) => isObject(message) && uuidPattern.test(String(message.id)))))

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function withStoredIds(email: unknown): unknown {
  if (!isObject(email) || !Array.isArray(email.messages)) return email
  const messages = email.messages.map((message) => ({
    ...message,
    id: parseId('msg', String(message?.id)),
    contact_created: false,
    warnings: [],
  }))
  return { id: parseId('eml', String(email.id)) ?? null, messages }
}

/** `results`: without the addresses of erased contacts. Undefined if they cannot be read any more. */
export type UsedAnswer = { requestHash: string; results: EmailResult[] | undefined }

/** Returns the results of submissions with these keys within the last 24 hours, by `keyName`. */
export async function findAnswers(
  db: Reader,
  keys: readonly { organizationId: OrganizationId; key: string }[],
): Promise<Map<string, UsedAnswer>> {
  const found = keys.length > 0 ? await findUsedKeys(db, keys) : []
  if (found.length === 0) return new Map()
  const used = found.map((row) => ({ ...row, answer: answerOf(row) }))
  const messageKeys = used.flatMap(({ organizationId, answer = [] }) =>
    answer.flatMap((email) => ('error' in email ? [] : email.messages.map(({ id }) => ({ organizationId, id })))),
  )
  const written = new Map((await findWrittenMessages(db, messageKeys)).map((message) => [message.id, message]))
  return new Map(
    used.map(({ organizationId, key, requestHash, answer }) => {
      const results = answer?.map((email) => resultOf(email, written))
      const isComplete = results?.every((result) => result !== undefined)
      return [keyName(organizationId, key), { requestHash, results: isComplete ? results : undefined }]
    }),
  )
}

/** Returns undefined if a message was deleted, as those of a deleted organization are. */
function resultOf(
  email: StoredAnswer[number],
  written: ReadonlyMap<MessageId, WrittenMessage>,
): EmailResult | undefined {
  if ('error' in email) {
    const { type, message, fields } = email.error
    return { ok: false, error: new Refusal(type, message, { fields }) }
  }
  const messages: AcceptedMessage[] = []
  for (const { contact_created: contactCreated, ...message } of email.messages) {
    const row = written.get(message.id)
    if (!row) return undefined
    messages.push({ ...message, contactId: row.contactId, contactCreated, email: row.email })
  }
  const { queuedAt, sendAt } = written.get(messages[0]!.id)!
  return { ok: true, email: { id: email.id, queuedAt, sendAt, messages } }
}

/** Throws `Refusal` if the key was used for another request, or if the results cannot be read. */
export function resultsFor(key: IdempotencyKey, { requestHash, results }: UsedAnswer): EmailResult[] {
  if (requestHash !== key.requestHash) throw keyReused()
  if (results) return results
  throw new Refusal(
    'conflict',
    'This request was accepted earlier, but its response is not available any more. Nothing was sent again.',
  )
}

/** The address of a contact that was erased is read from the repeated request. */
export const withAddresses = (
  results: readonly EmailResult[],
  emails: readonly (NewEmail | Refusal)[],
): EmailResult[] =>
  results.map((result, index) => {
    const email = emails[index]
    if (!result.ok || !email || !('recipients' in email)) return result
    const messages = result.email.messages.map((message, position) => ({
      ...message,
      email: message.email || (email.recipients[position]?.email ?? ''),
    }))
    return { ok: true, email: { ...result.email, messages } }
  })
