/** Every way the service may say no. A new type will not compile until http/errors.ts gives it a status. */
export type RefusalType =
  | 'invalid_json'
  | 'invalid_idempotency_key'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'flow_not_active'
  | 'idempotency_key_reused'
  | 'idempotency_in_progress'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'missing_variables'
  | 'sender_not_verified'
  | 'rate_limited'
  | 'unavailable'

/** One input that is wrong: where it stands (`members.3.email`) and what to do about it. */
export type FieldProblem = { path: string; problem: string; line?: number; column?: number }

export type RefusalDetails = { fields?: FieldProblem[]; retryAfterSeconds?: number }

/** A no that the caller can act on. Anything else thrown is our own fault: a 500, logged with its stack. */
export class Refusal extends Error {
  readonly type: RefusalType
  readonly fields: FieldProblem[]
  readonly retryAfterSeconds: number | undefined

  constructor(type: RefusalType, message: string, details: RefusalDetails = {}) {
    super(message)
    this.name = 'Refusal'
    this.type = type
    this.fields = details.fields ?? []
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** The usual refusal of input: one sentence for the person, the fields for the program. */
export function invalid(...fields: [FieldProblem, ...FieldProblem[]]): Refusal {
  const [first] = fields
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : ''
  return new Refusal('validation_failed', `${first.path}: ${first.problem}${more}`, { fields })
}

export type RecordKind =
  | 'API key'
  | 'contact'
  | 'delivery'
  | 'email'
  | 'flow'
  | 'flow version'
  | 'group'
  | 'import'
  | 'invitation'
  | 'member'
  | 'message'
  | 'webhook'

/** Rejects an id with a message such as "Flow not found.", also if the record belongs to another organization. */
export const notFound = (kind: RecordKind): Refusal =>
  new Refusal('not_found', `${kind[0]!.toUpperCase()}${kind.slice(1)} not found.`)

/** Something about the machine or the settings that a person can mend: told as a sentence, without a stack. */
export class SetupFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SetupFault'
  }
}
