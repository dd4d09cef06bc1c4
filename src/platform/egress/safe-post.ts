import { createSecureContext } from 'node:tls'
import { isPublicAddress } from './addresses.ts'
import { type ConnectionLimits, createConnections, defaultLimits } from './connections.ts'
import { Exchange } from './exchange.ts'
import type { PostOutcome } from './post-outcome.ts'
import { type Resolve, resolveByNameServers, resolveBySystem } from './resolve.ts'
import { defaultRules, type ResponseRules } from './response-rules.ts'

export type SafePostOptions = {
  /** Wall-clock time for one post: name lookup, connecting, waiting and reading together. */
  timeoutMs: number
  /** Also allow http and private addresses, for development or a private network. */
  allowPrivate: boolean
  /** Also allow http, to public addresses. */
  allowHttp?: boolean | undefined
  /** An http or https proxy for all connections. The proxy then has to check the addresses of names. */
  proxyUrl?: string | undefined
  /** Certificate authorities to trust instead of the default ones, as PEM. */
  ca?: string | undefined
  lookup?: Resolve | undefined
  /** Returns whether an address may be connected to. */
  isAllowed?: ((address: string) => boolean) | undefined
  limits?: Partial<ConnectionLimits> | undefined
}

type Send = (
  url: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
  rules?: ResponseRules,
) => Promise<PostOutcome>

export type SafePost = {
  /** Never rejects because of the receiver or the network. The caller limits the number of concurrent posts. */
  post: Send
  /** The same with PUT. */
  put: Send
  /** The same with GET. The outcome of a redirect has its `location`. */
  get: (url: string, headers: Record<string, string>) => Promise<PostOutcome>
  /** Ends posts in flight as unreachable and closes all connections. */
  close(): void
}

/**
 * Posts to URLs provided by users: only to public addresses, each checked when connecting, without following redirects,
 * within the time limit, and reading only the start of the response.
 */
export function createSafePost(options: SafePostOptions): SafePost {
  const { timeoutMs, allowPrivate, allowHttp = allowPrivate, proxyUrl, ca } = options
  const connections = createConnections(
    {
      resolve: options.lookup ?? (allowPrivate ? resolveBySystem : resolveByNameServers()),
      isAllowed: options.isAllowed ?? (allowPrivate ? () => true : isPublicAddress),
      secureContext: createSecureContext(ca ? { ca } : {}),
      attemptMs: Math.floor(timeoutMs / 3),
      proxy: proxyUrl ? new URL(proxyUrl) : undefined,
    },
    { ...defaultLimits, ...options.limits },
  )
  const parts = { timeoutMs, connections }

  const send =
    (method: 'GET' | 'POST' | 'PUT') =>
    (
      url: string,
      headers: Record<string, string>,
      body: string | Uint8Array | null,
      rules: ResponseRules = defaultRules,
    ): Promise<PostOutcome> =>
      new Promise((resolve) => {
        const { protocol, origin, pathname, search } = new URL(url)
        if (protocol === 'https:' || (allowHttp && protocol === 'http:')) {
          const request = { method, path: pathname + search, headers, body }
          new Exchange(parts, origin, request, rules, resolve)
        } else {
          resolve({ kind: 'unreachable', because: 'is not an https address', durationMs: 0, responseBody: null })
        }
      })
  const get = send('GET')
  return {
    post: send('POST'),
    put: send('PUT'),
    get: (url, headers) => get(url, headers, null),
    close: () => connections.close(),
  }
}
