import { type Call, type CallOptions, callApi, clientOptions } from './call.ts'
import { WaxwingError } from './errors.ts'
import { type Page, PagedList } from './paged-list.ts'

export type ManagementOptions = {
  /** Where your Waxwing runs, for example `https://waxwing.example.com`. */
  baseUrl: string
  /**
   * An API key with the scopes of the operations, the session token that `login` returns, or a function that returns
   * one of them, called before every request. Not needed to sign in, register or accept an invitation.
   */
  token?: string | (() => string | Promise<string>)
  fetch?: typeof fetch
  /** Timeout of one attempt. Default 30,000. */
  timeoutMs?: number
  /** How often a failed call is retried. Default 2. */
  retries?: number
  /** The pause before the first retry; it doubles from there. Default 250. */
  retryDelayMs?: number
}

export type RequestOptions = {
  /** Cancels the call, including its retries. */
  signal?: AbortSignal
  timeoutMs?: number
  /** Additional headers, for example `If-Match`. */
  headers?: Record<string, string>
}

type QueryValues = Record<string, string | number | boolean | null | undefined>

type Operation = {
  method: Call['method']
  path: string
  query?: object | undefined
  body?: unknown
  /** The media type of a body that is not JSON. */
  contentType?: string
  /** The operation needs no session. */
  isPublic?: boolean
  /** A repeated request has the same effect as a single one, so it may be retried after any failure. */
  isRepeatable?: boolean
  options?: RequestOptions | undefined
}

/** Sends the requests of the management client. */
export class ManagementCaller {
  readonly #baseUrl: string
  readonly #token: ManagementOptions['token']
  readonly #options: CallOptions

  constructor(options: ManagementOptions) {
    const { baseUrl, ...rest } = clientOptions(options)
    this.#baseUrl = baseUrl
    this.#options = rest
    this.#token = options.token
  }

  async call<Data>(operation: Operation): Promise<Data> {
    return (await this.#send<{ data: Data }>(operation)).data
  }

  list<Item>(operation: Operation): PagedList<Item> {
    return new PagedList<Item>((cursor) =>
      this.#send<Page<Item>>(cursor === undefined ? operation : withCursor(operation, cursor)),
    )
  }

  async #send<Answer>({ method, path, query, body, contentType, options = {}, ...kind }: Operation): Promise<Answer> {
    const headers: Record<string, string> = { Accept: 'application/json', ...options.headers }
    if (!kind.isPublic) headers.Authorization = `Bearer ${await this.#currentToken()}`
    const call: Call = {
      method,
      url: this.#baseUrl + path + searchOf(query as QueryValues | undefined),
      headers,
      isRepeatable: method !== 'POST' || kind.isRepeatable === true,
      signal: options.signal,
    }
    if (body !== undefined) {
      headers['Content-Type'] = contentType ?? 'application/json'
      call.body = contentType ? (body as NonNullable<Call['body']>) : JSON.stringify(body)
    }
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs
    return callApi<Answer>(call, { ...this.#options, timeoutMs })
  }

  async #currentToken(): Promise<string> {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token
    if (!token)
      throw new WaxwingError('This call needs a token: an API key or the token of a session.', { type: 'unauthorized' })
    return token
  }
}

const withCursor = (operation: Operation, cursor: string): Operation => ({
  ...operation,
  query: { ...operation.query, cursor },
})

function searchOf(query: QueryValues = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value != null) search.append(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}
