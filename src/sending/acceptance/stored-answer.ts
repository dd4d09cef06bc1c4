import { Refusal } from '../../platform/values/errors.ts'
import { parseId, toText } from '../../platform/values/ids.ts'
import type { AcceptedMessage, EmailRequest, EmailResult } from './email-request.ts'

/**
 * The results of a submission as they are stored with its idempotency key. Without addresses, so that a contact can be erased:
 * the repeated request contains them.
 */
export type StoredAnswer = {
  emails: (
    | { id: string; messages: (Omit<AcceptedMessage, 'id' | 'email'> & { id: string })[] }
    | { error: { type: Refusal['type']; message: string; fields: Refusal['fields'] } }
  )[]
}

export function answerText(results: readonly EmailResult[]): string {
  const stored: StoredAnswer = {
    emails: results.map((result) =>
      result.ok
        ? {
            id: toText('eml', result.id),
            messages: result.messages.map(({ id, status, reason }) => ({ id: toText('msg', id), status, reason })),
          }
        : { error: { type: result.error.type, message: result.error.message, fields: result.error.fields } },
    ),
  }
  return JSON.stringify(stored)
}

/** `requests` are those of the repeated submission. */
export const resultsOf = ({ emails }: StoredAnswer, requests: readonly (EmailRequest | Refusal)[]): EmailResult[] =>
  emails.map((email, index) =>
    'error' in email
      ? { ok: false, error: new Refusal(email.error.type, email.error.message, { fields: email.error.fields }) }
      : {
          ok: true,
          id: parseId('eml', email.id)!,
          messages: email.messages.map((message, position) => ({
            ...message,
            id: parseId('msg', message.id)!,
            email: addressAt(requests[index], position),
          })),
        },
  )

const addressAt = (request: EmailRequest | Refusal | undefined, position: number): string =>
  (request && 'recipients' in request && request.recipients[position]?.email) || ''
