/** The error types of the API, with their HTTP status. */
export const statusOf = {
  invalid_json: 400,
  invalid_idempotency_key: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  flow_not_active: 409,
  idempotency_key_reused: 409,
  cursor_expired: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  missing_variables: 422,
  sender_not_verified: 422,
  rate_limited: 429,
  unavailable: 503,
}
export type RefusalType = keyof typeof statusOf

/** An invalid input field: its path (`members.3.email`) and what is wrong with it. */
export type FieldProblem = { path: string; problem: string; line?: number; column?: number }

export type RefusalDetails = { fields?: FieldProblem[]; retryAfterSeconds?: number; cause?: unknown }

/** An expected rejection that the caller can act on. Any other error is a bug: a 500, logged with its stack trace. */
export class Refusal extends Error {
  readonly type: RefusalType
  readonly fields: FieldProblem[]
  readonly retryAfterSeconds: number | undefined

  constructor(type: RefusalType, message: string, details: RefusalDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'Refusal'
    this.type = type
    this.fields = details.fields ?? []
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** Returns a `validation_failed` refusal. Its message describes the first field; `fields` lists all of them. */
export function invalid(...fields: [FieldProblem, ...FieldProblem[]]): Refusal {
  const [first] = fields
  const others = fields.length - 1
  const more = others > 0 ? ` (and ${others} more problem${others === 1 ? '' : 's'})` : ''
  const message = `${first.path}: ${first.problem}${more}`
  return new Refusal('validation_failed', /[.?!]$/.test(message) ? message : `${message}.`, { fields })
}

/** The records of the API by the prefix of their ids. */
export const recordKinds = {
  blk: 'bulk action',
  brc: 'broadcast',
  con: 'contact',
  dlv: 'delivery',
  eml: 'email',
  dom: 'domain',
  evt: 'event',
  exp: 'event export',
  flw: 'flow',
  grp: 'group',
  img: 'image',
  imp: 'import',
  inv: 'invitation',
  key: 'API key',
  mse: 'mail server',
  msg: 'message',
  ntc: 'notice',
  prt: 'flow part',
  seg: 'segment',
  ses: 'session',
  usr: 'member',
  whk: 'webhook',
} as const

export type RecordKind =
  | (typeof recordKinds)[keyof typeof recordKinds]
  | 'API request'
  | 'attachment'
  | 'draft'
  | 'flow version'
  | 'organization'

/** Rejects an id with a message such as "Flow not found.", also if the record belongs to another organization. */
export const notFound = (kind: RecordKind): Refusal =>
  new Refusal('not_found', `${kind[0]!.toUpperCase()}${kind.slice(1)} not found.`)

/** Returns the record. Throws `Refusal` if there is none. */
export async function existing<Found>(kind: RecordKind, record: Promise<Found | undefined>): Promise<Found> {
  const found = await record
  if (found === undefined) throw notFound(kind)
  return found
}

/** Rejects a request that does not fit the current state. */
export const conflict = (message: string): Refusal => new Refusal('conflict', message)

/** A problem with the machine or the settings that an operator can fix. Printed without a stack trace. */
export class SetupFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SetupFault'
  }
}
