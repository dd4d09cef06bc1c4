import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FailureLog } from './runtime/failure-log.ts'
import { Loop } from './runtime/loop.ts'

/** What a process of the service does. */
export type Role = 'serve' | 'work'

/**
 * Where routes are found, and who may call them. `member` and `organization` are for people and for keys with a scope, and
 * the second has the prefix `/organization`; `pages` are opened by anybody's browser, as often as one address may.
 */
export type Mount = 'publicApi' | 'signIn' | 'member' | 'organization' | 'resend' | 'site' | 'pages'
export type Routes = Partial<Record<Mount, FastifyPluginAsyncTypebox[]>>

/** A worker or a loop. */
export type Background = { start(): void; firstRun: Promise<void>; stop(): Promise<void> }

/** Areas stop from the top to the bottom, all of them at one point before the next. Everything is optional. */
export type Stop = {
  /** While requests end, together with the other areas: ends what would keep requests open. */
  withRequests?(): Promise<void> | void
  /** When there are no requests any more. */
  afterRequests?(): Promise<void> | void
  /** After everything that uses the area: requests, workers and loops. */
  last?(): Promise<void> | void
}

/** What an area adds to a process. Everything is optional. */
export type Area = {
  /** Of processes that serve. */
  routes?: Routes
  /** Of processes that work: workers of the queue and loops. They start one after the other. */
  background?: Background[]
  /** Called before the process listens, areas from the bottom to the top. */
  start?(process: { serves: boolean; works: boolean }): Promise<void>
  stop?: Stop
}

/** Creates loops whose failures are logged. */
export const loopsOf =
  ({ failures }: { failures: FailureLog }) =>
  (name: string, everyMs: number, run: () => Promise<void>): Loop =>
    new Loop({ name, everyMs, run, failures })
