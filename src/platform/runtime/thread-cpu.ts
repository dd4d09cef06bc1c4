import { openSync, readSync } from 'node:fs'

/** Begins with the nanoseconds for which the thread has run. Only Linux has it. */
const file = openIfExists('/proc/thread-self/schedstat')
const buffer = Buffer.alloc(64)

/**
 * Returns the CPU time of this thread in milliseconds, or that of the process where the system has no number for a
 * thread. That of the process also counts the threads that compile code, collect garbage and hash passwords.
 */
export function threadCpuMs(): number {
  if (file === undefined) {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  return Number.parseInt(buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)), 10) / 1_000_000
}

function openIfExists(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch {
    return undefined
  }
}
