import { setTimeout as sleep } from 'node:timers/promises'

const withinMs = 120_000

/** Waits for a condition, which is checked every few milliseconds. */
export async function until(what: string, look: () => boolean | Promise<boolean>, everyMs = 5): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting for ${what}.`)
    await sleep(everyMs)
  }
}
