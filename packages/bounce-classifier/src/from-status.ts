import { recipientsMax } from './addresses.ts'
import { findReplyCode, findStatus, isVague } from './codes.ts'
import { findCommand } from './commands.ts'
import type { RecipientStatus } from './delivery-status.ts'
import { type Failure, findFailures } from './failures.ts'
import { type BounceResult, delivered, refused } from './report.ts'

/** A recipient of a report. `isPermanent` is the judgement of the email provider that sent the mail. */
export type Reported = RecipientStatus & { isPermanent?: boolean }

/** Results of a delivery-status part. Words of the notice about the same recipient fill the gaps. */
export function resultsOfStatus(
  reported: Reported[],
  words: string,
  own: ReadonlySet<string>,
  checksRecipients: boolean,
): BounceResult[] {
  const failures = findFailures(words, own)
  const results = new Map<string | null, BounceResult>()
  for (const one of reported.slice(0, recipientsMax)) {
    if (results.has(one.recipient)) continue
    const isFailure = one.action === 'failed' || one.action === 'delayed'
    results.set(
      one.recipient,
      isFailure ? resultOf(one, failures, reported.length === 1 ? words : '', checksRecipients) : deliveredTo(one),
    )
  }
  return [...results.values()]
}

function deliveredTo(one: RecipientStatus): BounceResult {
  return delivered(one.recipient, findStatus(one.status))
}

function resultOf(one: Reported, failures: Failure[], words: string, checksRecipients: boolean): BounceResult {
  const said = failures.find(({ recipient }) => recipient === one.recipient)?.text ?? words
  const statuses = [one.diagnostic, one.status, said].map(findStatus).filter((found) => found !== null)
  const evidence = {
    recipient: one.recipient,
    status: statuses.find((found) => !isVague(found)) ?? statuses[0] ?? null,
    replyCode: findReplyCode(one.diagnostic) ?? findReplyCode(said),
    command: findCommand(one.diagnostic, one.recipient) ?? findCommand(said, one.recipient),
    texts: [`${one.diagnostic}\n${one.status}`, said, words],
    checksRecipients: checksRecipients || one.isPermanent === true,
    delayed: one.action === 'delayed',
  }
  return refused(one.recipient, evidence, one.diagnostic || said)
}
