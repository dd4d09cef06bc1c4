import { setTimeout as sleep } from 'node:timers/promises'

/** Starts an operation at regular intervals, whether or not the ones before have ended, and waits for all of them. */
export async function paced(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  operation: (index: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const operations: Promise<void>[] = []
  for (let index = 0; index < perSecond * seconds; index++) {
    const waitMs = startedAt + (index * 1000) / perSecond - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    operations.push(operation(index))
  }
  await Promise.all(operations)
}
