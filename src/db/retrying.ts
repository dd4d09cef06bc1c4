import { setTimeout as sleep } from 'node:timers/promises'
import { isRetryable } from './db.ts'

const waitMs = 20

/** Does the work again, after ever longer moments, when PostgreSQL gave up on it although it would do if tried again. */
export async function retrying<Result>(
  triesMax: number,
  work: () => Promise<Result>,
  mayTryAgain: (error: unknown) => boolean = isRetryable,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!mayTryAgain(error) || tries === triesMax) throw error
      await sleep(waitMs * tries * Math.random())
    }
  }
}
