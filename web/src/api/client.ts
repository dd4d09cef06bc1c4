import createClient from 'openapi-fetch'
import { currentSession, expireSession } from '../session/session.ts'
import { ApiError, type ErrorBody, unreachable, unreadable } from './api-error.ts'
import { basePath } from './base.ts'
import type { paths } from './schema.d.ts'

const timeoutMs = 60_000
// An import may be many megabytes over a slow line.
const uploadTimeoutMs = 30 * 60_000

/** Typed by the OpenAPI document: a path, a parameter or a field that the service does not know does not compile. */
export const api = createClient<paths>({ baseUrl: basePath.replace(/\/$/, ''), fetch: send })

/** Sends one request. A session that has run out is renewed by the person in place, and the request goes out again. */
async function send(request: Request): Promise<Response> {
  for (;;) {
    // Signing in needs no session, and a wrong password must not ask for the password again.
    const session = request.url.includes('/api/v1/auth/') ? undefined : await currentSession()
    const once = request.clone()
    if (session) once.headers.set('authorization', `Bearer ${session.token}`)
    const response = await fetchWithin(once)
    if (response.status !== 401 || !session) return response
    await expireSession(session.token)
  }
}

async function fetchWithin(request: Request): Promise<Response> {
  const limitMs = request.headers.get('content-type') === 'text/csv' ? uploadTimeoutMs : timeoutMs
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(limitMs)]) })
  } catch (error) {
    if (request.signal.aborted) throw error
    throw unreachable()
  }
}

type Answer<Body> = Promise<{ data?: Body; error?: unknown; response: Response }>

/** What the envelope holds, or an ApiError. */
export async function dataOf<Data>(answer: Answer<{ data: Data }>): Promise<Data> {
  return (await bodyOf(answer)).data
}

/** For what has nothing to say but that it is done. */
export async function done(answer: Answer<object>): Promise<void> {
  await bodyOf(answer)
}

export type Page<Item> = { items: Item[]; nextCursor: string | null }

export async function pageOf<Item>(answer: Answer<{ data: Item[]; next_cursor: string | null }>): Promise<Page<Item>> {
  const body = await bodyOf(answer)
  return { items: body.data, nextCursor: body.next_cursor }
}

async function bodyOf<Body>(answer: Answer<Body>): Promise<Body> {
  const { data, error, response } = await readable(answer)
  if (data !== undefined) return data
  throw new ApiError(response.status, typeof error === 'object' && error !== null ? (error as ErrorBody) : {})
}

async function readable<Read>(answer: Promise<Read>): Promise<Read> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof SyntaxError ? unreadable() : error
  }
}

/** Leaves out what the person left empty. */
export function given<Query extends object>(query: Query) {
  const entries = Object.entries(query).filter(([, value]) => value !== '' && value !== null && value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Query]?: Exclude<Query[Name], '' | null | undefined> }
}
