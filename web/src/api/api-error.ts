type FieldProblem = { path: string; problem: string; line?: number; column?: number }

export type ErrorBody = {
  message?: string
  error?: { type?: string; fields?: FieldProblem[]; request_id?: string }
}

/** An error response, or `status` 0 if there was no response from Waxwing. The message is a sentence for the user. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly fields: FieldProblem[]
  readonly requestId: string | undefined

  constructor(status: number, body: ErrorBody) {
    super(body.message ?? `Waxwing responded with status ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.type = body.error?.type ?? 'unknown'
    this.fields = body.error?.fields ?? []
    this.requestId = body.error?.request_id
  }
}

/** The record was changed by someone else, or is in another state than expected. */
export const isConflict = (error: unknown) => error instanceof ApiError && error.status === 409

/** Returns the error message for one input, or undefined if the error does not concern it. */
export function fieldProblem(error: unknown, ...paths: string[]): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const field = error.fields.find(({ path }) => paths.includes(path))
  return field && sentenceOf(field)
}

/** Returns the error messages by field. */
export function fieldProblems(error: unknown): Record<string, string> {
  const fields = error instanceof ApiError ? error.fields : []
  return Object.fromEntries(fields.map((field) => [field.path, sentenceOf(field)]))
}

/** Returns the error message for the whole form, without the problems of `shownPaths`, which are shown at their inputs. */
export function formProblem(error: unknown, shownPaths: string[] = []): string | undefined {
  if (!error) return undefined
  if (!(error instanceof ApiError)) return messageOf(error)
  const others = error.fields.filter(({ path }) => !shownPaths.includes(path))
  if (others.length > 0) return others.map(sentenceOf).join(' ')
  return error.fields.length > 0 ? undefined : error.message
}

const fieldLabels: Record<string, string> = {
  url: 'URL',
  html: 'HTML',
  to: 'Email',
  from_email: 'From address',
  reply_to: 'Reply-to',
  timezone: 'Time zone',
  website_url: 'Website',
  'schedule.at': 'Date and time',
  flow_version: 'Version',
  messages_per_hour: 'Maximum emails per hour',
  share: 'Share of the sample',
  test_percent: 'Size of the sample',
}

/** The API describes a problem like “must not be empty”: with the name of its field that becomes a sentence. */
function sentenceOf({ path, problem }: FieldProblem): string {
  const name = path.split('.').findLast((part) => !/^\d+$/.test(part)) ?? path
  const label =
    fieldLabels[path] ?? fieldLabels[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
  const text = /^[a-z]/.test(problem) ? `${label} ${problem}` : problem
  return /[.!?]$/.test(text) ? text : `${text}.`
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
