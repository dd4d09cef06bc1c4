import type { NewContent } from '../attachments/contents.ts'

/** Messages that are accepted in one transaction. A file counts as ten of them, and 2 KB of content as one. */
const weightMax = 500
const fileWeight = 10
const bytesPerWeight = 2_048

/**
 * Requests that are too heavy for a batch are accepted alone: up to 1,000 messages, or some megabytes of content. Each uses
 * a connection for about a second.
 */
const heavy = { perOrganization: 1, overall: 3, waitingPerOrganization: 100, waitMs: 20_000 }

export const acceptWeights = { weightMax, heavy }

/** What accepting these messages with one content costs, compared with a message without content. */
export function weightOf(messages: number, content: NewContent | null | undefined): number {
  if (!content) return messages
  const { html, text, files } = content
  let bytes = (html?.length ?? 0) + (text?.length ?? 0)
  for (const file of files) bytes += file.content?.length ?? 0
  return messages + files.length * fileWeight + Math.floor(bytes / bytesPerWeight)
}
