import { randomUUID } from 'node:crypto'
import type { Db } from '../../platform/db/db.ts'
import type { Listening } from '../../platform/db/listen.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { ApiKeyId, OrganizationId } from '../../platform/values/ids.ts'
import { notify } from './confirmations.sql.ts'

const channel = 'waxwing_mcp_answers'
/** NOTIFY carries at most 8,000 bytes. An answer is a few words. */
const answerLengthMax = 2_000
const openMax = 200
const openPerOrganizationMax = 5
/** How long a person has to answer. */
export const answerWithinMs = 5 * 60_000

export type UserAnswer = { action: string; content: Readonly<Record<string, unknown>> }

type Key = { id: ApiKeyId; organizationId: OrganizationId }
type Open = Key & { settle: (answer: UserAnswer | undefined) => void }
type Sent = { id: string; keyId: ApiKeyId; answer: UserAnswer }

/**
 * Questions to the users of MCP clients. A question is sent as part of the response to a tool call, which stays open; the
 * answer is another request. It may reach another process, which passes it on with NOTIFY. A process listens only while
 * it has an open question.
 */
export class Confirmations {
  readonly #db: Db
  readonly #waitMs: number
  readonly #open = new Map<string, Open>()
  #listening: Promise<Listening> | undefined

  constructor(db: Db, { waitMs = answerWithinMs }: { waitMs?: number } = {}) {
    this.#db = db
    this.#waitMs = waitMs
  }

  get openCount(): number {
    return this.#open.size
  }

  /**
   * Asks a question and waits for the answer of a client with the same key. `send` sends the question under an id. Returns
   * undefined if the client disconnects or does not answer in time, or if the service is shutting down. Throws `Refusal` if
   * the organization has too many open questions.
   */
  async ask(key: Key, send: (id: string) => Promise<void>, signal: AbortSignal): Promise<UserAnswer | undefined> {
    this.#checkLimits(key)
    const id = `ask_${randomUUID()}`
    const { promise, resolve } = withResolvers<UserAnswer | undefined>()
    const timer = setTimeout(() => resolve(undefined), this.#waitMs)
    const onAbort = () => resolve(undefined)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    this.#open.set(id, { ...key, settle: resolve })
    try {
      // Before the question, so that no answer is missed.
      this.#listening ??= this.#listen()
      await this.#listening
      await send(id)
      return await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      this.#open.delete(id)
      if (this.#open.size === 0) await this.#stopListening()
    }
  }

  /** Passes an answer to the request that asked. Answers to unknown questions have no effect. */
  async answer(key: Key, id: unknown, answer: UserAnswer): Promise<void> {
    if (typeof id !== 'string' || !/^ask_[\w-]{36}$/.test(id)) return
    const sent: Sent = { id, keyId: key.id, answer }
    if (this.#settle(sent)) return
    const payload = JSON.stringify(sent)
    if (payload.length > answerLengthMax) throw new Refusal('payload_too_large', 'The answer is too long.')
    await notify(this.#db.statement, channel, payload)
  }

  /** Ends all open questions: nothing is started without an answer. */
  stop(): void {
    for (const { settle } of this.#open.values()) settle(undefined)
  }

  #checkLimits({ organizationId }: Key): void {
    const openByOrganization = [...this.#open.values()].filter((open) => open.organizationId === organizationId).length
    if (this.#open.size >= openMax || openByOrganization >= openPerOrganizationMax)
      throw new Refusal('rate_limited', 'Too many questions are waiting for an answer. Answer one of them first.')
  }

  #settle({ id, keyId, answer }: Sent): boolean {
    const open = this.#open.get(id)
    if (open?.id === keyId) open.settle(answer)
    return open !== undefined
  }

  #listen(): Promise<Listening> {
    const listening = this.#db.listen(channel, (payload) => void this.#settle(JSON.parse(payload) as Sent))
    // The next question tries again.
    listening.catch(() => {
      if (this.#listening === listening) this.#listening = undefined
    })
    return listening
  }

  async #stopListening(): Promise<void> {
    const listening = this.#listening
    this.#listening = undefined
    await (await listening)?.stop()
  }
}

function withResolvers<Value>() {
  let resolve!: (value: Value) => void
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
