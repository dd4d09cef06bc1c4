import { subscribe } from 'node:diagnostics_channel'
import { afterAll } from 'vitest'
import { type StartedStatement, statementChannelName } from '../../src/platform/db/statement-channel.ts'
import { isExcepted } from './statement-exceptions.ts'
import { brokenRules } from './statement-rules.ts'

// Checks every statement that the service starts in a test against the rules in statement-rules.ts. Statements of the
// tests themselves are not checked.

/** Deep enough for a statement that a helper of `src/platform/db` starts. */
const stackDepth = 20
const plumbing = /\/src\/platform\/db\/(?:db|reader|transaction|statement-channel)\.ts/
const sourceFile = /\/((?:src|test|bench|scripts)\/[\w./-]+\.ts)/

type Recorder = { checked: Set<string>; broken: string[] }
/** Shared by all test files of a worker. */
const shared = globalThis as { statementRecorder?: Recorder }
shared.statementRecorder ??= startRecorder()
const { broken } = shared.statementRecorder

afterAll(() => {
  const found = broken.splice(0)
  if (found.length > 0)
    throw new Error(`Statements break the rules of test/support/statement-rules.ts:\n${found.join('\n')}`)
})

function startRecorder(): Recorder {
  const recorder: Recorder = { checked: new Set(), broken: [] }
  subscribe(statementChannelName, (message) => {
    const { text } = message as StartedStatement
    if (recorder.checked.has(text)) return
    const file = callerOf()
    if (!file?.startsWith('src/') || file.endsWith('.test.ts')) return
    recorder.checked.add(text)
    const rules = brokenRules(text).filter((rule) => !isExcepted(file, text, rule))
    if (rules.length > 0) recorder.broken.push(`${file}: ${rules.join(', ')}: ${text.replaceAll(/\s+/g, ' ').trim()}`)
  })
  return recorder
}

/** Returns the file that started the statement. */
function callerOf(): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = stackDepth
  const frames = new Error().stack!.split('\n').slice(1)
  Error.stackTraceLimit = stackTraceLimit
  return frames
    .filter((frame) => !plumbing.test(frame) && !frame.includes('setup-statements'))
    .map((frame) => sourceFile.exec(frame)?.[1])
    .find((file) => file !== undefined)
}
