import { createSecureContext } from 'node:tls'
import { isPublicAddress } from './addresses.ts'
import { type ConnectionLimits, createConnections, defaultLimits } from './connections.ts'
import { createDeadlines } from './deadlines.ts'
import { Exchange } from './exchange.ts'
import type { PostOutcome } from './post-outcome.ts'
import { type Resolve, resolveByNameServers, resolveBySystem } from './resolve.ts'

export type SafePostOptions = {
  /** Wall clock for one post: looking up, connecting, waiting and reading together. */
  timeoutMs: number
  /** http and private addresses too: for development, and for a network of one's own. */
  allowPrivate: boolean
  /** An http or https proxy that every connection is tunnelled through. It then judges the addresses of names. */
  proxyUrl?: string | undefined
  /** Authorities to trust instead of the usual ones, as PEM. */
  ca?: string | undefined
  lookup?: Resolve | undefined
  /** Judges each address before it is connected to. */
  isAllowed?: ((address: string) => boolean) | undefined
  limits?: Partial<ConnectionLimits> | undefined
}

export type SafePost = {
  /** Never rejects for what the receiver or the network does. How many run at once is the caller's to bound. */
  post(url: string, headers: Record<string, string>, body: string | Uint8Array): Promise<PostOutcome>
  /** Ends what is in flight as unreachable, and closes every connection. */
  close(): void
}

/**
 * Posts to URLs that strangers gave us: only to public addresses, each checked when it is connected to, never along a
 * redirect, never longer than the time limit, and never reading more than a little of the answer.
 */
export function createSafePost(options: SafePostOptions): SafePost {
  const { timeoutMs, allowPrivate, proxyUrl, ca } = options
  const deadlines = createDeadlines(timeoutMs)
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
  const parts = { timeoutMs, deadlines, connections }

  return {
    post: (url, headers, body) =>
      new Promise((resolve) => {
        const { protocol, origin, pathname, search } = new URL(url)
        if (protocol === 'https:' || (allowPrivate && protocol === 'http:')) {
          const request = { method: 'POST' as const, path: pathname + search, headers, body }
          new Exchange(parts, origin, request, resolve).start()
        } else {
          resolve({ kind: 'unreachable', because: 'is not an https address', durationMs: 0, responseBody: null })
        }
      }),
    close() {
      deadlines.stop()
      connections.close()
    },
  }
}
