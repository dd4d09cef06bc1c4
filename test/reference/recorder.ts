import { expect } from 'vitest'
import type { Example } from '../../src/platform/http/types.ts'
import type { Answer, TestApp } from '../support/test-app.ts'

type Credential = 'session' | 'key' | 'none' | { session: string }
export type Step = {
  params?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  /** Headers that are sent but not shown in the example, such as a signature. */
  hiddenHeaders?: Record<string, string>
  body?: unknown
  text?: string
  /** Sent instead of `text`, which the example shows. */
  bytes?: Uint8Array
  as?: Credential
  /** The expected status. Defaults to any success. */
  status?: number
  title?: string
  /** Shortens a response that is too long for an example. */
  shorten?: (body: never) => unknown
}

/** Calls operations by name and records requests and responses as examples of the reference. */
export class Recorder {
  readonly examples = new Map<string, Example[]>()
  readonly app: TestApp
  readonly #routes: Map<string, { method: string; path: string; isPublic: boolean }>

  constructor(
    app: TestApp,
    document: { paths: Record<string, Record<string, { operationId: string; security: object[] }>> },
  ) {
    this.app = app
    this.#routes = new Map(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId, security }]) => [
          operationId,
          { method: method.toUpperCase(), path, isPublic: security.length === 0 },
        ]),
      ),
    )
  }

  // biome-ignore lint/suspicious/noExplicitAny: scenarios read responses of any shape
  async record(operationId: string, step: Step = {}): Promise<any> {
    const route = this.#routes.get(operationId)
    if (!route) throw new Error(`There is no operation ${operationId}.`)
    const { params = {}, query, headers = {}, body, text } = step
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!))
    const url = query ? `${path}?${new URLSearchParams(query)}` : path
    const sent = {
      ...this.#credential(step.as ?? (path.startsWith('/public') ? 'key' : 'session')),
      ...headers,
      ...step.hiddenHeaders,
    }
    const answer = await this.app.call(route.method, url, {
      headers: route.isPublic ? { ...headers, ...step.hiddenHeaders } : sent,
      body,
      ...(text !== undefined && { raw: step.bytes ?? text }),
    })
    expect([operationId, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([
      operationId,
      step.status ?? answer.status,
      step.status === undefined || step.status < 300 ? '' : answer.text,
    ])
    const list = this.examples.get(operationId) ?? []
    this.examples.set(operationId, list)
    list.push(exampleOf({ ...step, path, answer }))
    return answer.body
  }

  #credential(as: Credential): Record<string, string> {
    if (as === 'none') return {}
    if (as === 'key') return { 'x-api-token': this.app.apiKey }
    return { authorization: `Bearer ${as === 'session' ? this.app.session : as.session}` }
  }
}

const shownHeaders = ['idempotent-replayed', 'retry-after']

function exampleOf({
  params,
  query,
  headers,
  body,
  text,
  path,
  answer,
  title,
  shorten,
}: Step & { path: string; answer: Answer }): Example {
  const kept = shownHeaders.flatMap((name) => {
    const value = answer.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  const content = answer.body ?? answer.text
  return {
    title: title ?? (answer.status < 300 ? 'Success' : answer.body.error.type),
    request: {
      path,
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
      ...(text !== undefined && { text }),
    },
    response: {
      status: answer.status,
      ...(kept.length > 0 && { headers: Object.fromEntries(kept) }),
      body: shorten ? shorten(content as never) : content,
    },
  }
}
