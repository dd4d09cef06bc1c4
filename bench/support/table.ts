import type { Bar, Result } from './result.ts'

const columns: [string, (result: Result) => string][] = [
  ['figure', ({ figure }) => figure],
  ['reference', ({ reference }) => reference],
  ['ratio', ({ ratio }) => number(ratio, 2)],
  ['CPU/op', ({ cpuMicrosPerOperation }) => number(cpuMicrosPerOperation, 0, ' µs')],
  ['p50', ({ p50Ms }) => number(p50Ms, 1, ' ms')],
  ['p99', ({ p99Ms }) => number(p99Ms, 1, ' ms')],
  ['memory', ({ memoryBytes }) => number(memoryBytes && memoryBytes / 1024 ** 2, 0, ' MB')],
  ['at least', ({ atLeast }) => verdict(atLeast)],
  ['aim', ({ aim }) => verdict(aim)],
]

const number = (value: number | null, digits: number, unit = '') =>
  value === null ? '-' : value.toFixed(digits) + unit
const verdict = ({ wanted, holds }: Bar) => `${wanted} ${holds ? 'yes' : 'NO'}`

/** Returns an aligned Markdown table. */
export function tableOf(results: Record<string, Result>): string {
  const rows = Object.entries(results).map(([name, result]) => [name, ...columns.map(([, show]) => show(result))])
  const all = [['bench', ...columns.map(([title]) => title)], ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  const notes = Object.entries(results).flatMap(([name, result]) => result.notes.map((note) => `- ${name}: ${note}`))
  return [line(all[0]!), rule, ...rows.map(line), '', ...notes, ''].join('\n')
}
