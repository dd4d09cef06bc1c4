import { Refusal } from '../../platform/values/errors.ts'
import type { NewEmail, Submission } from './submission.ts'

/** Messages that are accepted in one transaction. A file counts as ten of them, and 2 KB of content as one. */
export const weightMax = 500
const fileWeight = 10
const bytesPerWeight = 2_048

/**
 * Requests that are too heavy for a batch are accepted alone: up to 1,000 messages, or some megabytes of content. Each uses
 * a connection for about a second.
 */
export const heavy = { perOrganization: 1, overall: 3, waitingPerOrganization: 100, waitMs: 20_000 }

/** What accepting a submission costs, compared with a message without content. */
export const weightOf = (submission: Submission): number =>
  sumOf(submission, ({ recipients, content }) => {
    if (!content) return recipients.length
    const { html, text, files } = content
    let bytes = (html?.length ?? 0) + (text?.length ?? 0)
    for (const file of files) bytes += file.content?.length ?? 0
    return recipients.length + files.length * fileWeight + Math.floor(bytes / bytesPerWeight)
  })

export const messagesIn = (submission: Submission): number => sumOf(submission, ({ recipients }) => recipients.length)

export const fileBytesIn = (submission: Submission): number =>
  sumOf(submission, ({ content }) => content?.files.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0)

function sumOf({ emails }: Submission, count: (email: NewEmail) => number): number {
  let sum = 0
  for (const email of emails) if (!(email instanceof Refusal)) sum += count(email)
  return sum
}
