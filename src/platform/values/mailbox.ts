import { parseEmail } from './email.ts'
import { SetupFault } from './errors.ts'

/** Parses `Name <address>` or an address. Throws `SetupFault` if MAIL_FROM is invalid. */
export function parseMailFrom(text: string): { name: string | null; email: string } {
  const named = /^\s*"?([^"<]*?)"?\s*<([^<>]+)>\s*$/.exec(text)
  const parsed = parseEmail(named?.[2] ?? text)
  if (!parsed.ok) throw new SetupFault(`MAIL_FROM: "${text}" ${parsed.problem}.`)
  return { name: named?.[1] || null, email: parsed.address }
}
