import { type FieldProblem, Refusal, type RefusalType } from '../values/errors.ts'

/** From the service to a task process. */
export type Request = { name: string; input: unknown }

/** From a task process to the service. `ready` is sent once, when every module is loaded. */
export type Reply = { kind: 'ready' } | { kind: 'done'; output: unknown } | ErrorReply

type ErrorReply =
  | { kind: 'refused'; refusal: RefusalData }
  | { kind: 'failed'; message: string; stack: string | undefined }

type RefusalData = { type: RefusalType; message: string; fields: FieldProblem[]; retryAfterSeconds: number | undefined }

export function toReply(error: unknown): ErrorReply {
  if (error instanceof Refusal) {
    const { type, message, fields, retryAfterSeconds } = error
    return { kind: 'refused', refusal: { type, message, fields, retryAfterSeconds } }
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { kind: 'failed', message, stack }
}

export function toRefusal({ type, message, fields, retryAfterSeconds }: RefusalData): Refusal {
  return new Refusal(type, message, { fields, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
}
