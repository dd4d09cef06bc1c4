import { expireSession, getSession } from '../session/session.ts'
import { ApiError, unreachable } from './api-error.ts'
import { basePath } from './base.ts'

export type Query = Record<string, string | number | boolean | null | undefined>
export type Page<T> = { items: T[]; nextCursor: string | null }

type Options = { query?: Query; body?: unknown; raw?: { body: BodyInit; contentType: string }; signal?: AbortSignal }
type Envelope<T> = { message: string; data: T; next_cursor?: string | null }

// An import may be many megabytes over a slow line; whatever takes longer than this has failed.
const timeoutMs = 60_000
const uploadTimeoutMs = 30 * 60_000

/** One request. A session that has run out is renewed by the person in place, and the request goes out again. */
async function request<T>(method: string, path: string, options: Options = {}): Promise<Envelope<T>> {
  for (;;) {
    // Signing in needs no session, and a wrong password must not ask for the password again.
    const session = path.startsWith('auth/') ? undefined : getSession()
    const response = await send(method, path, options, session?.token)
    const body = await readBody<T>(response)
    if (response.ok && body) return body
    if (response.status === 401 && session) {
      await expireSession(session.token)
      continue
    }
    throw new ApiError(response.status, body ?? {})
  }
}

async function send(method: string, path: string, options: Options, token: string | undefined): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (token) headers.authorization = `Bearer ${token}`
  if (options.raw) headers['content-type'] = options.raw.contentType
  else if (options.body !== undefined) headers['content-type'] = 'application/json'
  const timeout = AbortSignal.timeout(options.raw ? uploadTimeoutMs : timeoutMs)
  const init: RequestInit = {
    method,
    headers,
    signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
  }
  if (options.raw) init.body = options.raw.body
  else if (options.body !== undefined) init.body = JSON.stringify(options.body)
  try {
    return await fetch(`${basePath}api/v1/${path}${searchOf(options.query)}`, init)
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw unreachable()
  }
}

async function readBody<T>(response: Response): Promise<Envelope<T> | undefined> {
  try {
    return (await response.json()) as Envelope<T>
  } catch {
    return undefined
  }
}

function searchOf(query: Query | undefined): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text && `?${text}`
}

export const api = {
  get: async <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
    (await request<T>('GET', path, { ...(query && { query }), ...(signal && { signal }) })).data,
  page: async <T>(path: string, query: Query, signal?: AbortSignal): Promise<Page<T>> => {
    const answer = await request<T[]>('GET', path, { query, ...(signal && { signal }) })
    return { items: answer.data, nextCursor: answer.next_cursor ?? null }
  },
  post: async <T>(path: string, body: unknown = {}): Promise<T> => (await request<T>('POST', path, { body })).data,
  patch: async <T>(path: string, body: unknown): Promise<T> => (await request<T>('PATCH', path, { body })).data,
  remove: async <T = null>(path: string): Promise<T> => (await request<T>('DELETE', path)).data,
  upload: async <T>(path: string, query: Query, body: BodyInit, contentType: string): Promise<T> =>
    (await request<T>('POST', path, { query, raw: { body, contentType } })).data,
}
