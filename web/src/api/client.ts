import createClient from 'openapi-fetch'
import type { paths } from '../../../sdk/src/generated/schema.ts'
import { currentSession, expireSession } from '../accounts/session/session.ts'
import { saveFile } from '../ui/download.ts'
import { ApiError, type ErrorBody } from './api-error.ts'
import { basePath } from './base.ts'
import { unreachableError, unreadableError } from './network-errors.ts'

const timeoutMs = 60_000
// An import may upload many megabytes over a slow connection.
const uploadTimeoutMs = 30 * 60_000

/** Typed by the OpenAPI document: unknown paths, parameters and fields do not compile. */
export const api = createClient<paths>({ baseUrl: basePath.replace(/\/$/, ''), fetch: send })

/** Sends one request. If the session has expired, waits until the user has signed in again and repeats the request. */
async function send(request: Request): Promise<Response> {
  for (;;) {
    // Signing in needs no session, and a wrong password must not open the dialog for an expired session.
    const session = request.url.includes('/api/v1/auth/') ? undefined : await currentSession()
    const attempt = request.clone()
    if (session) attempt.headers.set('authorization', `Bearer ${session.token}`)
    const response = await fetchWithin(attempt)
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
    throw unreachableError()
  }
}

type ApiResponse<Body> = Promise<{ data?: Body; error?: unknown; response: Response }>

/** Returns the `data` of the response. Throws `ApiError` for an error response. */
export async function dataOf<Data>(call: ApiResponse<{ data: Data }>): Promise<Data> {
  return (await bodyOf(call)).data
}

/** For responses without data. Throws `ApiError` for an error response. */
export async function ensureSuccess(call: ApiResponse<object>): Promise<void> {
  await bodyOf(call)
}

export type Page<Item> = { items: Item[]; nextCursor: string | null }

export async function pageOf<Item>(
  call: ApiResponse<{ data: Item[]; next_cursor: string | null }>,
): Promise<Page<Item>> {
  const body = await bodyOf(call)
  return { items: body.data, nextCursor: body.next_cursor }
}

async function bodyOf<Body>(call: ApiResponse<Body>): Promise<Body> {
  const { data, error, response } = await checkReadable(call)
  if (data !== undefined) return data
  throw new ApiError(response.status, typeof error === 'object' && error !== null ? (error as ErrorBody) : {})
}

async function checkReadable<Value>(call: Promise<Value>): Promise<Value> {
  try {
    return await call
  } catch (error) {
    throw error instanceof SyntaxError ? unreadableError() : error
  }
}

/** Downloads a file. Throws `ApiError` for an error response. */
export async function download(path: string, name: string): Promise<void> {
  const url = new URL(`${basePath.replace(/\/$/, '')}${path}`, window.location.href)
  // With this type, the download may take as long as an upload.
  const response = await send(new Request(url, { headers: { 'content-type': 'text/csv' } }))
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})))
  saveFile(name, await response.blob())
}

/** Removes empty strings, null and undefined. */
export function omitEmpty<Query extends object>(query: Query) {
  const entries = Object.entries(query).filter(([, value]) => value !== '' && value !== null && value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Query]?: Exclude<Query[Name], '' | null | undefined> }
}
