import { randomBytes } from 'node:crypto'
import { type ApiRequestLog, redact, redactText } from '../../accounts/accounts.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { SubmissionOptions, SubmittedEmail } from './listener.ts'
import { replyFor } from './smtp-reply.ts'

type Accept = SubmissionOptions['accept']
type Rejection = { code: number; type: string | null; message: string }

const accepted = 250
const temporaryFailure: Rejection = { code: 451, type: 'internal', message: 'Temporary failure.' }

/** Records each submitted email as a request of its API key, with the code of the reply as its status. */
export function recordEmails(log: ApiRequestLog, accept: Accept): Accept {
  return async (email) => {
    const startedAt = performance.now()
    try {
      const text = await accept(email)
      record(log, email, startedAt)
      return text
    } catch (error) {
      record(log, email, startedAt, rejectionOf(error))
      throw error
    }
  }
}

function rejectionOf(error: unknown): Rejection {
  const reply = replyFor(error)
  if (!reply) return temporaryFailure
  return { code: reply.responseCode, type: error instanceof Refusal ? error.type : null, message: reply.message }
}

function record(log: ApiRequestLog, email: SubmittedEmail, startedAt: number, rejection?: Rejection): void {
  const { key, recipients, client } = email
  const status = rejection?.code ?? accepted
  if (!log.keeps(key, status)) return
  const durationMs = performance.now() - startedAt
  log.add({
    organizationId: key.organizationId,
    apiKeyId: key.id,
    // As random as the ids of HTTP requests, but unknown to the client.
    requestId: `req_${randomBytes(11).toString('hex')}`,
    at: new Date(Date.now() - durationMs),
    via: 'smtp',
    method: 'DATA',
    route: 'submission',
    path: 'submission',
    status,
    durationMs,
    client,
    userAgent: null,
    errorType: rejection?.type ?? null,
    errorMessage: rejection ? redactText(rejection.message) : null,
    errorFields: null,
    query: null,
    body: rejection ? redact({ recipients: recipients.map((recipient) => recipient.email) }) : null,
    response: null,
    notSent: null,
  })
}
