import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type StartedStatement, statementChannelName } from '../../src/platform/db/statement-channel.ts'

/** Collects the statements of this process until it is disposed. */
export function collectStatements(): Disposable & { texts: string[] } {
  const texts: string[] = []
  const collect = (started: unknown) => void texts.push((started as StartedStatement).text)
  subscribe(statementChannelName, collect)
  return { texts, [Symbol.dispose]: () => void unsubscribe(statementChannelName, collect) }
}
