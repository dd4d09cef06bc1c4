import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionFault, isRetryable } from './db.ts'

const retryDelayMs = 20
const outageMsMax = 60_000
const outageRetryMs = 250

/** Retries `work` with growing, random delays if it fails with a deadlock or serialization failure. */
export async function retrying<Result>(
  triesMax: number,
  work: () => Promise<Result>,
  shouldRetry: (error: unknown) => boolean = isRetryable,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!shouldRetry(error) || tries === triesMax) throw error
      await sleep(retryDelayMs * tries * Math.random())
    }
  }
}

/** Whether a batch of records is divided to find what cannot be recorded. During an outage, nothing can. */
export const isUnrecordable = (error: unknown): boolean => !isConnectionFault(error)

/** Retries `work` for a minute during an outage, to record what would otherwise be repeated, such as an email. */
export async function persisting<Result>(work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = Date.now() + outageMsMax
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isConnectionFault(error) || Date.now() >= giveUpAt) throw error
      await sleep(outageRetryMs)
    }
  }
}
