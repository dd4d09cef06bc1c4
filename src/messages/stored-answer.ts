import { Refusal } from '../values/errors.ts'
import { parseId, toText } from '../values/ids.ts'
import type { AcceptedMessage, EmailResult } from './email-request.ts'

/** The results of a submission as they are stored with its idempotency key. */
export type StoredAnswer = {
  emails: (
    | { id: string; messages: (Omit<AcceptedMessage, 'id'> & { id: string })[] }
    | { error: { type: Refusal['type']; message: string; fields: Refusal['fields'] } }
  )[]
}

export function answerText(results: readonly EmailResult[]): string {
  const stored: StoredAnswer = {
    emails: results.map((result) =>
      result.ok
        ? {
            id: toText('eml', result.id),
            messages: result.messages.map((message) => ({ ...message, id: toText('msg', message.id) })),
          }
        : { error: { type: result.error.type, message: result.error.message, fields: result.error.fields } },
    ),
  }
  return JSON.stringify(stored)
}

export const resultsOf = ({ emails }: StoredAnswer): EmailResult[] =>
  emails.map((email) =>
    'error' in email
      ? { ok: false, error: new Refusal(email.error.type, email.error.message, { fields: email.error.fields }) }
      : {
          ok: true,
          id: parseId('eml', email.id)!,
          messages: email.messages.map((message) => ({ ...message, id: parseId('msg', message.id)! })),
        },
  )
