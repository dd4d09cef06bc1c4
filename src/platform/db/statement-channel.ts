import { channel } from 'node:diagnostics_channel'

export type StartedStatement = { text: string }

export const statementChannelName = 'waxwing:statement'
const statements = channel(statementChannelName)

/** Publishes the text of a statement in the call that starts it, so that a subscriber can see the caller. */
export function publishStatement(text: string): void {
  if (statements.hasSubscribers) statements.publish({ text } satisfies StartedStatement)
}
