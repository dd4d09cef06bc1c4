import { readdirSync, readFileSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second. */
const microsPerTick = 10_000

type Stat = { pid: number; parent: number; ticks: number }

/** Returns the CPU time of a process and its descendants, or null without /proc. */
export function cpuMicrosOfTree(root: number): number | null {
  const stats = readAll()
  if (!stats) return null
  const family = new Set([root])
  // A child may be listed before its parent, so repeat until no process is added.
  for (let before = 0; before !== family.size; ) {
    before = family.size
    for (const { pid, parent } of stats) if (family.has(parent)) family.add(pid)
  }
  return stats.filter(({ pid }) => family.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0) * microsPerTick
}

/** Returns the resident memory of a process in bytes, or null without /proc. */
export function residentBytes(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes ? Number(kilobytes) * 1024 : null
  } catch {
    return null
  }
}

function readAll(): Stat[] | null {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => readOne(Number(pid)) ?? [])
  } catch {
    return null
  }
}

function readOne(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in parentheses and may contain anything, so fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    // The last two are those of its children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { pid, parent: Number(fields[1]), ticks }
  } catch {
    return undefined
  }
}
