import type { IncomingHttpHeaders } from 'node:http'
import { classifyReply } from '@waxwing/bounce-classifier'
import { Refusal } from '../../../platform/values/errors.ts'
import { storableText } from '../../../platform/values/text.ts'
import type { Clues } from '../correlate.ts'
import type { Verdict } from '../verdicts.ts'

/** Events of one request. */
export const reportsMax = 10_000

/** `turns`: who takes the turns of the event loop in which it is read, if that is costly. */
export type ProviderRequest = { headers: IncomingHttpHeaders; body: Buffer; turns: string }
export type ProviderReport = { clues: Clues; occurredAt: Date; verdict: Verdict }

/**
 * Parses a request of a provider. Throws `Refusal` if it is not authenticated. Skips events that are neither bounces
 * nor complaints.
 */
export type ReadReports = (request: ProviderRequest) => Promise<ProviderReport[]>

/**
 * With a key, password or topic, requests are verified with it. Without, the address to which they are posted is the secret, as
 * for the webhook of a mail server.
 */
export type RequestKey = string | undefined

export const notAuthenticated = () =>
  new Refusal('unauthorized', 'The request could not be authenticated as coming from the provider.')

export type ProviderBounce = {
  /** Whether the provider considers the failure permanent. */
  isPermanent: boolean
  status?: string | undefined
  replyCode?: number | undefined
  text: string
}

/** What a provider quotes of a reply is classified and stored up to this length. */
const replyCharsMax = 1_000

/** Classifies by the same rules as bounce emails; the provider's opinion counts if they find nothing. */
export function bounceOf({ isPermanent, status, replyCode, text: reply }: ProviderBounce): Verdict {
  const text = storableText(reply, replyCharsMax)
  const judged = classifyReply({ status: status ?? null, replyCode: replyCode ?? null, text })
  const type = judged.reason === 'undetermined' && isPermanent && !isTemporary(judged.status) ? 'hard' : judged.kind
  const { reason, status: known, replyCode: code, confidence, evidence } = judged
  const diagnostic = text || null
  return { kind: 'bounce', bounce: { type, status: known, reply_code: code, reason, diagnostic, confidence, evidence } }
}

const isTemporary = (status: string | null) => status?.startsWith('4') ?? false
