import type { InjectOptions } from 'fastify'
import { viaMcp } from '../../accounts/accounts.ts'
import type { Server } from '../../platform/http/server.ts'
import { countFitting, fits, shortenToFit } from './fit-answer.ts'
import type { Tool } from './tools.ts'

/** Small, so that an assistant does not read more than it needs. */
const limitDefault = 20
const limitMax = 100

/** What the path of an operation is filled with. Other values could lead to another operation: `..` is resolved. */
const idPattern = /^[a-z]{3}_[A-Za-z0-9]{1,64}$/

export type Arguments = Readonly<Record<string, unknown>>

/** On whose behalf tools are called. */
export type Caller = { apiKey: string; address: string }

/** The result of an operation: its data, or the error of the API. */
export type Outcome = { isError: boolean; status: number; data: unknown }

/** Calls operations of this service like a client would, with the same guards, limits and validation. */
export class ToolCaller {
  readonly #server: Pick<Server, 'inject'>
  readonly #caller: Caller

  constructor(server: Pick<Server, 'inject'>, caller: Caller) {
    this.#server = server
    this.#caller = caller
  }

  /** Returns at most 25 kB: as many entries of a list as fit, with the cursor of the next page. */
  async call(tool: Tool, args: Arguments): Promise<Outcome> {
    const problem = argumentProblem(tool, args)
    if (problem) return refusal(problem)
    const outcome = tool.paging === undefined ? await this.run(tool, args) : await this.#list(tool, args)
    return { ...outcome, data: shortenToFit(outcome.data) }
  }

  /** Calls the operation once and returns its data, whatever its size. */
  async run(tool: Pick<Tool, 'operation'>, args: Arguments): Promise<Outcome> {
    const wrong = Object.values(tool.operation.path).find((name) => !idPattern.test(String(args[name])))
    if (wrong !== undefined) return refusal(`${wrong}: is not an id`)
    const { statusCode: status, body } = await this.#server.inject(this.#requestOf(tool, args))
    const answer = JSON.parse(body) as Answer
    if (status >= 400) {
      const { type, fields, request_id } = answer.error ?? {}
      return { isError: true, status, data: { error: answer.message, type, fields, request_id } }
    }
    const isPage = answer.next_cursor !== undefined
    return {
      isError: false,
      status,
      data: isPage ? { data: answer.data, next_cursor: answer.next_cursor } : answer.data,
    }
  }

  async #list(tool: Tool, args: Arguments): Promise<Outcome> {
    if (tool.paging === 'tool') return pageOf(await this.run(tool, args), args)
    const asked = Math.min(Number(args.limit ?? limitDefault), limitMax)
    const outcome = await this.run(tool, { ...args, limit: asked })
    if (outcome.isError || fits(outcome.data)) return outcome
    // The cursor is that of the last entry, so a shorter page has to be read again.
    const { data } = outcome.data as Page
    return this.run(tool, { ...args, limit: countFitting(data, pageBytes) })
  }

  #requestOf({ operation }: Pick<Tool, 'operation'>, args: Arguments): InjectOptions {
    const { method, url, path, query, body } = operation
    const filled = url.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(args[path[name]!])))
    const parameters = new URLSearchParams()
    for (const name of query)
      if (args[name] !== undefined && args[name] !== null) parameters.set(name, String(args[name]))
    const fields = body?.filter((name) => args[name] !== undefined).map((name) => [name, args[name]])
    return {
      method,
      url: `${filled}?${parameters}`,
      remoteAddress: this.#caller.address,
      headers: {
        'x-api-token': this.#caller.apiKey,
        ...viaMcp,
        ...(fields && { 'content-type': 'application/json' }),
      },
      ...(fields && { payload: JSON.stringify(Object.fromEntries(fields)) }),
    }
  }
}

const refusal = (error: string): Outcome => ({ isError: true, status: 422, data: { error } })

type Answer = {
  message: string
  data: unknown
  next_cursor?: string | null
  error?: { type: string; fields: unknown; request_id: string }
}
type Page = { data: unknown[]; next_cursor: string | null }

/** Of the envelope of a page, with a cursor. */
const pageBytes = 1_200

/** A page of a list that the API returns as a whole. The cursor is the position. */
function pageOf(outcome: Outcome, { cursor }: Arguments): Outcome {
  if (outcome.isError) return outcome
  const all = outcome.data as unknown[]
  const start = /^\d{1,6}$/.test(String(cursor)) ? Number(cursor) : 0
  const rest = all.slice(start, start + limitDefault)
  const data = rest.slice(0, countFitting(rest, pageBytes))
  const end = start + data.length
  return { ...outcome, data: { data, next_cursor: end < all.length ? String(end) : null } }
}

/** The routes validate the values; unknown and missing arguments are reported here, under the names that tools have. */
function argumentProblem({ inputSchema: { properties, required } }: Tool, args: Arguments): string | undefined {
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(properties, name))
  if (unknown !== undefined)
    return `${unknown.slice(0, 100)}: is unknown. Allowed: ${Object.keys(properties).join(', ') || 'no arguments'}`
  const missing = required.find((name) => args[name] === undefined)
  return missing && `${missing}: is required`
}
