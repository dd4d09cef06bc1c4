import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionFault, isRetryable } from './db.ts'

const waitMs = 20
const awayMaxMs = 60_000
const lookAgainMs = 250

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

/**
 * Does the work again while the database is away, for up to a minute. For what has happened already and would happen once
 * more, such as a mail that went out, if it could not be recorded.
 */
export async function persisting<Result>(work: () => Promise<Result>): Promise<Result> {
  const giveUpAt = Date.now() + awayMaxMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isConnectionFault(error) || Date.now() >= giveUpAt) throw error
      await sleep(lookAgainMs)
    }
  }
}
