import type { Query, QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { api, ensureSuccess } from '../api/client.ts'

export const recoveryMs = 3_000

/** Whether the server was unreachable, restarting or overloaded, or a proxy answered in its place. */
const isOutage = (error: unknown) => error instanceof ApiError && (error.status === 0 || error.status >= 502)

const hasFailed = (query: Query) => query.state.status === 'error' && isOutage(query.state.error)

/**
 * While something on the page could not be loaded because of an outage, asks every few seconds whether the server
 * responds, and then loads it again.
 */
export function recoverFromOutages(queries: QueryClient): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const failed = () => queries.getQueryCache().findAll({ type: 'active', predicate: hasFailed })
  const schedule = () => {
    if (timer === undefined && failed().length > 0) timer = setTimeout(() => void attempt(), recoveryMs)
  }
  const attempt = async () => {
    if (await isServerUp()) await queries.refetchQueries({ type: 'active', predicate: hasFailed })
    timer = undefined
    schedule()
  }
  queries.getQueryCache().subscribe(schedule)
}

export async function isServerUp(): Promise<boolean> {
  try {
    await ensureSuccess(api.GET('/api/v1/auth/state'))
    return true
  } catch {
    return false
  }
}
