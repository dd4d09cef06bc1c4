import { findAddresses, recipientsMax } from './addresses.ts'
import { findReplyCode, findStatus } from './codes.ts'
import { findCommand } from './commands.ts'
import { findFailures, findMentioned, saysSomething } from './failures.ts'
import { headerValue, headerValues, type MailParts } from './mail-parts.ts'
import { type BounceResult, refused } from './report.ts'
import { checksRecipients } from './reporters.ts'

/** Returns one result per recipient of a notice in plain words, or none if it names no recipient. */
export function resultsOfNotice(mail: MailParts, words: string, own: ReadonlySet<string>): BounceResult[] {
  const failures = findFailures(words, own)
  const failed = headerValues(mail.headers, 'x-failed-recipients').flatMap(findAddresses)
  const named = failed.length > 0 ? failed : failures.map(({ recipient }) => recipient)
  const recipients = named.length > 0 ? named : findMentioned(words, own).slice(0, 1)
  const context = contextOf(mail, words)
  const codes = { status: findStatus(words), replyCode: findReplyCode(words) }
  return [...new Set(recipients)].slice(0, recipientsMax).map((recipient) => {
    const said = failures.find((one) => one.recipient === recipient)?.text ?? ''
    return resultOf(recipient, said, failures.length > 1 && saysSomething(said) ? '' : words, codes, context)
  })
}

/** The result of a notice that names no recipient. `recipient` comes from the returned message. */
export function resultOfUnnamed(mail: MailParts, words: string, recipient: string | null): BounceResult {
  const codes = { status: findStatus(words), replyCode: findReplyCode(words) }
  return resultOf(recipient, '', words, codes, contextOf(mail, words))
}

type Codes = { status: string | null; replyCode: number | null }
type Context = { delayed: boolean; checksRecipients: boolean }

function resultOf(recipient: string | null, said: string, words: string, codes: Codes, context: Context): BounceResult {
  const rest = words === '' ? { status: null, replyCode: null } : codes
  const evidence = {
    recipient,
    status: findStatus(said) ?? rest.status,
    replyCode: findReplyCode(said) ?? rest.replyCode,
    command: findCommand(said, recipient) ?? findCommand(words, recipient),
    texts: [said, words],
    ...context,
  }
  return refused(recipient, evidence, said || words)
}

function contextOf(mail: MailParts, words: string): Context {
  return { delayed: saysDelayed(mail, words), checksRecipients: checksRecipients(mail, words) }
}

const delaySubject =
  /^\s*(?:warning: (?:message|could not|mail)|delayed|(?:mail|message|delivery)\b.{0,20}\bdelayed)|\(delay(?:ed)?\)/i
const delayWords =
  /this is a warning message only|has (?:not yet been delivered|been delayed)|delivery attempts will continue|will (?:be retried|keep trying|continue trying)|message is still in the queue/i

function saysDelayed({ headers }: MailParts, words: string): boolean {
  return delaySubject.test(headerValue(headers, 'subject')) || delayWords.test(words)
}
