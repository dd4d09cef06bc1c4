import { Type } from 'typebox'
import { Named } from '../../../platform/http/envelope.ts'
import type { Tokens } from '../../../platform/secrets/tokens.ts'
import { Refusal } from '../../../platform/values/errors.ts'
import type { OrganizationId } from '../../../platform/values/ids.ts'
import { findReported } from '../correlate.ts'
import { type MessageReport, recordVerdicts, type VerdictParts } from '../verdicts.ts'
import { type ProviderReport, reportsMax } from './provider.ts'

/** For the API reference. */
export const bodyErrors = {
  payload_too_large: 'The request has more than 10,000 events, more than 1 MiB, or too many values or field names.',
  invalid_json: 'The body is not valid JSON.',
}

export const ReceivedReports = Named('ReceivedReports', { received: Type.Integer(), recorded: Type.Integer() })

export const bytesOf = (body: unknown): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

export type ReceiveParts = VerdictParts & { tokens: Tokens }
type Received = { received: number; recorded: number }

/** With an organization, reports about messages of others are ignored. */
export async function receive(
  parts: ReceiveParts,
  read: () => Promise<ProviderReport[]>,
  organizationId?: OrganizationId,
): Promise<Received> {
  const reports = await read()
  if (reports.length > reportsMax)
    throw new Refusal('payload_too_large', 'Too many events in one request. Send fewer at once.')
  const clues = reports.map((report) => report.clues)
  const messages = await findReported(parts.db, parts.tokens, clues, organizationId)
  const matched = reports.flatMap(({ occurredAt, verdict }, index): MessageReport[] => {
    const message = messages[index]
    return message ? [{ message, occurredAt, verdict }] : []
  })
  return { received: reports.length, recorded: await recordVerdicts(parts, matched) }
}
