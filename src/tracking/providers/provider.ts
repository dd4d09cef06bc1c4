import type { IncomingHttpHeaders } from 'node:http'
import { classifyReply } from '@waxwing/bounce-classifier'
import { Refusal } from '../../values/errors.ts'

import type { Clues } from '../correlate.ts'
import type { Verdict } from '../verdicts.ts'

export type ProviderRequest = { headers: IncomingHttpHeaders; body: Buffer }
export type ProviderReport = { clues: Clues; occurredAt: Date; verdict: Verdict }

/** Reads what a provider posted. Refuses what is not proven to come from it; leaves out what is no bounce or complaint. */
export type ReadReports = (request: ProviderRequest) => Promise<ProviderReport[]>

export const notBelieved = () => new Refusal('unauthorized', 'This does not come from the provider: it is not signed.')

export type Said = {
  /** What the provider makes of it. */
  isPermanent: boolean
  status?: string | undefined
  replyCode?: number | undefined
  text: string
}

/** By the same rules as for bounce mails; the provider's opinion counts where they find nothing. */
export function bounceOf({ isPermanent, status, replyCode, text }: Said): Verdict {
  const judged = classifyReply({ status: status ?? null, replyCode: replyCode ?? null, text })
  const type = judged.reason === 'undetermined' && isPermanent && !isTemporary(judged.status) ? 'hard' : judged.kind
  const { reason, status: known, replyCode: code, confidence, evidence } = judged
  const diagnostic = text || null
  return { kind: 'bounce', bounce: { type, status: known, reply_code: code, reason, diagnostic, confidence, evidence } }
}

const isTemporary = (status: string | null) => status?.startsWith('4') ?? false
