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

export const unreachable = () =>
  new ApiError(0, {
    message: navigator.onLine
      ? "Waxwing can't be reached. Check that it is running, then try again."
      : "You're offline. Check your internet connection, then try again.",
  })

/** Such as a proxy's own error page with status 200. */
export const unreadable = () =>
  new ApiError(0, { message: 'Received an unexpected response, possibly from a proxy. Try again in a moment.' })

/** The problem of one input, to stand under it. */
export function fieldProblem(error: unknown, ...paths: string[]): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.fields.find((field) => paths.includes(field.path))?.problem
}

/** What remains to be said at the form's foot once the problems in `shownPaths` stand under their inputs. */
export function remainingProblem(error: unknown, shownPaths: string[]): string | undefined {
  if (!error) return undefined
  if (!(error instanceof ApiError)) return messageOf(error)
  const shown = error.fields.some((field) => shownPaths.includes(field.path))
  const others = error.fields.filter((field) => !shownPaths.includes(field.path))
  if (others.length > 0) return others.map((field) => `${field.path}: ${field.problem}`).join(' · ')
  return shown ? undefined : error.message
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
