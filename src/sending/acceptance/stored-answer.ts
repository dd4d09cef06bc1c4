import type { Reader } from '../../platform/db/db.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { findUsedKeys, findWrittenMessages, type StoredAnswer, type UsedKey } from './accept.sql.ts'
import { type EmailResult, keyName, type NewEmail } from './submission.ts'

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

const answerOf = ({ answer, messageId }: UsedKey): StoredAnswer =>
  Array.isArray(answer) ? answer : [{ id: null, messages: [{ ...answer, id: messageId }] }]

/** `results`: without the addresses of erased contacts. */
export type UsedAnswer = { requestHash: string; results: EmailResult[] }

/** Returns the results of submissions with these keys within the last 24 hours, by `keyName`. */
export async function findAnswers(
  db: Reader,
  keys: readonly { organizationId: OrganizationId; key: string }[],
): Promise<Map<string, UsedAnswer>> {
  const used = keys.length > 0 ? await findUsedKeys(db, keys) : []
  if (used.length === 0) return new Map()
  const messageKeys = used.flatMap((row) =>
    answerOf(row).flatMap((email) =>
      'error' in email ? [] : email.messages.map(({ id }) => ({ organizationId: row.organizationId, id })),
    ),
  )
  const written = new Map((await findWrittenMessages(db, messageKeys)).map((message) => [message.id, message]))
  return new Map(
    used.map((row) => {
      const results = answerOf(row).map((email): EmailResult => {
        if ('error' in email) {
          const { type, message, fields } = email.error
          return { ok: false, error: new Refusal(type, message, { fields }) }
        }
        const stored = email.messages.flatMap(({ id }) => written.get(id) ?? [])
        // Those of a deleted organization are erased before its keys.
        if (stored.length < email.messages.length) return { ok: false, error: notFound('message') }
        const messages = email.messages.map(({ contact_created: contactCreated, ...message }, index) => {
          const { contactId, email: address } = stored[index]!
          return { ...message, contactId, contactCreated, email: address }
        })
        const { queuedAt, sendAt } = stored[0]!
        return { ok: true, email: { id: email.id, queuedAt, sendAt, messages } }
      })
      return [keyName(row.organizationId, row.key), { requestHash: row.requestHash, results }]
    }),
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
