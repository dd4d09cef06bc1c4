import { decodeWords } from 'postal-mime'
import type { Header } from './mail-parts.ts'

const fieldsMax = 5000
const valueCharsMax = 8 * 1024

const fieldStart = /^([A-Za-z][\w-]{0,60})[ \t]{0,4}:(.*)$/

/** Header-like fields, group by group: a blank line starts the next group. Lines that are no field are skipped. */
export function readFieldGroups(text: string): Header[][] {
  const groups: Header[][] = []
  let group: Header[] = []
  let count = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      if (group.length > 0) groups.push(group)
      group = []
      continue
    }
    const last = group.at(-1)
    if (/^[ \t]/.test(line) && last) {
      if (last.value.length < valueCharsMax) last.value += ` ${line.trim()}`
      continue
    }
    const field = fieldStart.exec(line)
    if (!field) continue
    group.push({ name: field[1]!.toLowerCase(), value: field[2]!.trim().slice(0, valueCharsMax) })
    count += 1
    if (count >= fieldsMax) break
  }
  if (group.length > 0) groups.push(group)
  return groups
}

/** The headers at the start of a returned message, encoded words decoded. */
export function readHeaders(text: string): Header[] {
  const group = readFieldGroups(text.replace(/^\s+/, ''))[0] ?? []
  return group.map(({ name, value }) => ({ name, value: decodeWords(value) }))
}
