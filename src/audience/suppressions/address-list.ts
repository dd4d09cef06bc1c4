import { parseEmail } from '../../platform/values/email.ts'
import { invalid } from '../../platform/values/errors.ts'
import { isStorable } from '../../platform/values/text.ts'

export const listCharsMax = 256 * 1024
export const listedMax = 5_000
const shownMax = 300

/** An entry of a pasted list: its address, or why it is rejected. `line` starts at 1. */
export type ListedAddress = { line: number; text: string } & (
  | { email: string; emailKey: string }
  | { problem: string; email?: undefined }
)

const separators = /[,;\t]/
const inBrackets = /<([^<>]*)>\s*$/

/**
 * Reads a pasted list: one address per line, or several separated by commas, semicolons or tabs; `Ada <ada@example.com>`
 * is read as well. Blank entries are skipped. Throws `Refusal` if the list is empty or has too many entries.
 */
export function readAddressList(list: string): ListedAddress[] {
  const entries: ListedAddress[] = []
  list.split(/\r\n|\r|\n/).forEach((lineText, index) => {
    for (const part of lineText.split(separators)) {
      const text = part.trim().replace(/^["']|["']$/g, '')
      if (text === '') continue
      if (entries.length === listedMax)
        throw invalid({ path: 'list', problem: `must have at most ${listedMax} addresses` })
      entries.push({ line: index + 1, ...readEntry(text) })
    }
  })
  if (entries.length === 0) throw invalid({ path: 'list', problem: 'must contain at least one address' })
  return entries
}

function readEntry(text: string) {
  const parsed = parseEmail(inBrackets.exec(text)?.[1] ?? text)
  const shown = isStorable(text) ? text.slice(0, shownMax) : ''
  return parsed.ok
    ? { text: shown, email: parsed.address, emailKey: parsed.key }
    : { text: shown, problem: parsed.problem }
}
