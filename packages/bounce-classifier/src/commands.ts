import { hidesFilters } from './carriers.ts'
import { findEntry } from './rule-usage.ts'

export type Command = 'connect' | 'helo' | 'mail' | 'rcpt' | 'data'

const commandOfWord: Record<string, Command> = {
  rcpt: 'rcpt',
  recipient: 'rcpt',
  data: 'data',
  bdat: 'data',
  message: 'data',
  '.': 'data',
  dot: 'data',
  mail: 'mail',
  sender: 'mail',
  ehlo: 'helo',
  helo: 'helo',
  lhlo: 'helo',
  starttls: 'helo',
  auth: 'helo',
  name: 'helo',
  connection: 'connect',
  greeting: 'connect',
  '13': 'helo',
  '14': 'rcpt',
  '15': 'data',
  '17': 'data',
  '18': 'data',
}

// How relays name the refused command: Postfix, Exim, DragonFly; GMX; qmail; m-FILTER; Messaging Server; Coremail; Cisco; Yahoo; Gmail.
const stages = [
  /(?:in reply to|response to|after|(?<!\bthe )following|during|smtp:|did not like our) ?(?:pipelined |sending |the |initial |final |end of )?(rcpt|data|mail from|mail(?= command)|message|ehlo|helo|lhlo|starttls|auth|connection)/i,
  /(?:for|at) (?:the )?(rcpt|data|mail)(?: to| from)? (?:command|stage|phase)/i,
  /does not like (recipient|sender)/i,
  /but (sender) was rejected/i,
  /but (greeting) failed/i,
  /but my (name) was rejected/i,
  /^-{3,20} ?smtp command\n{1,3}(rcpt|data|mail|ehlo|helo)/im,
  /failed after i sent the (message)/i,
  /rejected (?:the |this )?(recipient)? ?address|(recipient) address rejected:/i,
  /\b(rcpt to|mail from|data|dot): ?[45]\d\d\b/i,
  /\b[45]\d\d[ -](?:[45]\.\d{1,3}\.\d{1,3} )?"?(rcpt) to\b/i,
  /unknown address error|each of the following (recipient)s was rejected/i,
  /\[(rcpt|mail|data|ehlo|helo|connection)(?:_to|_from)?\]/i,
  /\(state (1[3-8])\)/,
]

/** Returns the refused command, or null if the text does not name it. Unknown users are refused at RCPT, filters act after DATA. */
export function findCommand(text: string, recipient: string | null): Command | null {
  if (hidesFilters(recipient) && isAnsweredByName(text, recipient)) return 'rcpt'
  // Where commands were pipelined, the transcript ends with DATA, but the summary of the relay shows what was refused.
  if (/no valid recipients|^550 (?:5\.1\.1 )?<[^<>]{1,320}>\.\.\. user unknown/im.test(text)) return 'rcpt'
  const dialog = lastRefusedCommand(text)
  if (dialog) return dialog
  const match = findEntry(stages, (stage) => stage.test(text))?.exec(text)
  return match ? (commandOfWord[(match[1] ?? 'rcpt').toLowerCase().split(' ')[0]!] ?? null) : null
}

// Sendmail, MDaemon, hMailServer, Postfix, and InterScan, whose arrows point the other way.
const asks = /(?:>>>|-->|\bsent:|\bsent <<<|^ ?in:) {0,4}(\w{4,8}|\.)/i
const answersNo = /(?:<<<|<--|\breplied:|\breceived >>>|^ ?out:) {0,4}[45]\d\d/i

/** In a transcript, the last command before the first answer that refuses. */
function lastRefusedCommand(text: string): Command | null {
  let command: Command | null = null
  for (const line of text.split('\n')) {
    const asked = asks.exec(line)?.[1]?.toLowerCase()
    if (asked) command = commandOfWord[asked] ?? null
    if (command && answersNo.test(line)) return command
  }
  return null
}

/** Carriers that hide filters name the address in their reply to RCPT only: `550 <ada@ezweb.ne.jp>: User unknown`. */
function isAnsweredByName(text: string, recipient: string | null): boolean {
  const reply = /(?:^|[\s>])[45]\d\d[ :-]{1,2}(?:[45]\.\d{1,3}\.\d{1,3} )?<([^<>]{1,320})>(?::|\.\.\.)/.exec(text)
  return recipient !== null && reply?.[1]?.toLowerCase() === recipient
}
