import { LRUCache } from 'lru-cache'

type Some = NonNullable<unknown>
type Options<Key extends Some, Value extends Some, Context> = Pick<
  LRUCache.Options<Key, Value, Context>,
  'ttl' | 'dispose' | 'noDeleteOnStaleGet' | 'allowStale' | 'fetchMethod'
>

/**
 * Returns a cache that keeps the most recently used entries, at most `max`, and grows with them. The library's `max`
 * allocates room for all entries at once: 13 ms of CPU time for the caches of a service.
 *
 * `fetchMethod` reads a missing value once for all who wait for it. What is deleted while it is read is returned to those
 * who wait, and not kept. If a read fails, a stale value is kept. `allowStale`: while a value that is older than its `ttl`
 * is read again, the last one is used.
 */
export const createCache = <Key extends Some, Value extends Some, Context = unknown>(
  max: number,
  options: Options<Key, Value, Context> = {},
): LRUCache<Key, Value, Context> =>
  new LRUCache<Key, Value, Context>({
    ...options,
    maxSize: max,
    sizeCalculation: () => 1,
    noDeleteOnStaleGet: options.noDeleteOnStaleGet ?? options.allowStale ?? false,
    noDeleteOnFetchRejection: true,
    ignoreFetchAbort: true,
    // Otherwise each cache in use starts a timer every millisecond.
    ttlResolution: 100,
  })

/** For hot paths: returns a promise only if the value has to be read. */
export function getOrFetch<Key extends Some, Value extends Some>(
  cache: LRUCache<Key, Value>,
  key: Key,
): Value | Promise<Value> {
  const known = cache.get(key)
  if (known === undefined) return cache.forceFetch(key)
  // The next call tries again if this fails.
  if (cache.allowStale && !cache.has(key)) cache.fetch(key).catch(() => {})
  return known
}

/** Reads a value after a change. A read that began before the change is awaited first. */
export async function refetch<Key extends Some, Value extends Some>(
  cache: LRUCache<Key, Value>,
  key: Key,
): Promise<Value> {
  await cache.fetch(key, { allowStale: false })
  return cache.forceFetch(key, { allowStale: false, forceRefresh: true })
}

/** Returns a function that calls `read` at most once at a time and keeps its result for `keptMs`. Errors are not kept. */
export function kept<Value>(keptMs: number, read: () => Promise<Value>): () => Promise<Value> {
  const cache = createCache<'', { value: Value }>(1, {
    ttl: keptMs,
    fetchMethod: async () => ({ value: await read() }),
  })
  return async () => (await cache.forceFetch('')).value
}
